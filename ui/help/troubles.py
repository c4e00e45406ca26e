"""What commonly surprises people, and why: the entries of the troubleshooting page."""

from __future__ import annotations

from explorer.i18n import N_

TROUBLES: tuple[tuple[str, str, str], ...] = (
    (
        "nothing",
        N_("Nothing is generated."),
        N_(
            "A limit on tokens in all counts the prompt: with a prompt of 300 tokens, a limit of 20 leaves no room. "
            "Use “At most new tokens”. A stop string that the text begins with has the same effect."
        ),
    ),
    (
        "repeats",
        N_("The text repeats itself."),
        N_(
            "Greedy decoding and low temperatures like loops: a phrase makes itself more probable each time. Draw at a "
            "higher temperature, set a repetition penalty slightly above 1, or forbid repeated n-grams."
        ),
    ),
    (
        "template",
        N_("The answer has nothing to do with the question."),
        N_(
            "A chat model expects its chat template around the messages. Use the Chat tab of the prompt panel; the "
            "tokens below it show exactly what the model reads."
        ),
    ),
    (
        "specials",
        N_("There are words in angle brackets in the text."),
        N_(
            "They are control tokens, such as <|im_end|>. The tree shows them since the model predicts them like any "
            "other token; the end of a turn is one of them."
        ),
    ),
    (
        "cut",
        N_("The text breaks off in the middle of a sentence."),
        N_(
            "The banner under the path says which rule ended it. A limit cuts; only an end token means that the model "
            "itself was done. Raise the limit, or go on anyway."
        ),
    ),
    (
        "differs",
        N_("Two programs give different text for the same prompt."),
        N_(
            "Compare the token ids first, then every setting: a library may switch on filters by itself (transformers "
            "keeps 50 tokens when sampling), apply filters in another order, or begin the prompt with another token."
        ),
    ),
    (
        "no_effect",
        N_("A setting seems to do nothing."),
        N_(
            "At temperature 0, and with top-k 1, the best token is taken whatever the other filters leave. A filter "
            "also does nothing where it would have kept all that was left; “Why?” says so for every one of them."
        ),
    ),
    (
        "unlikely",
        N_("Unlikely tokens turn up although a filter is on."),
        N_(
            "Filters run one after the other. In the order of transformers the temperature comes first: at a high one "
            "all tokens come close, and top-p or min-p keep more of them. In the order of llama.cpp the temperature "
            "comes last. “Why?” shows what each order keeps."
        ),
    ),
    (
        "endless",
        N_("The text never ends."),
        N_(
            "Only an end token ends a text by itself. Penalties and n-gram rules look at the prompt as well: in a chat "
            "template the end token occurs already, and they make it unlikely or forbid it. Look at its bar among the "
            "candidates: what holds it back is named there."
        ),
    ),
    (
        "no_tokens",
        N_("No token is left to choose from."),
        N_(
            "Every filter may take tokens away, and together they may take all. The stop names the one that took the "
            "last; relax it, or pick a token by hand. A grammar leaves few to begin with."
        ),
    ),
    (
        "mask",
        N_("Texts run together in a batch come out wrong, or in another order."),
        N_(
            "A batch pads short prompts, and a model that is not told which tokens are padding reads them as text. "
            "Give an explicit attention mask, pad at the left, and keep each answer with its prompt. This program "
            "never infers a mask from token ids, so it does not happen here."
        ),
    ),
    (
        "slow",
        N_("It is slow."),
        N_(
            "The first token of a long prompt costs the most; later ones reuse what was computed. Close other "
            "programs, leave one core free, take a smaller model, or bfloat16 on a graphics card."
        ),
    ),
    (
        "habit",
        N_("A habit that helps"),
        N_(
            "Fix the seed, change one setting at a time, run several times, and compare distributions rather than one "
            "sample of text."
        ),
    ),
)
"""Name, heading and text of each; advice and hints point at the names."""
