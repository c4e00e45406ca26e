"""The fixed parts of a generated script. Each is code as it stands in the script, between the parts that vary."""

from __future__ import annotations

from typing import Final

NEXT_LOGITS: Final = '''
cache, seen = None, 0  # keys and values of the tokens that were read already


@torch.inference_mode()
def next_logits(ids):
    """The model's raw scores for the token after ids, float32."""
    global cache, seen
    new = torch.tensor([ids[seen:]], device=model.device)
    output = model(input_ids=new, cache=cache, use_cache=True, logits_to_keep=1)
    cache, seen = output.cache, len(ids)
    return output.logits[0, -1].float().cpu()
'''

NEXT_LOGITS_FRESH: Final = '''

@torch.inference_mode()
def next_logits(ids):
    """The model's raw scores for the token after ids, float32; from scratch, for no cache agrees with this model."""
    output = model(input_ids=torch.tensor([ids], device=model.device), use_cache=False)
    return output.logits[0, -1].float().cpu()
'''

NEXT_LOGITS_TABLE: Final = '''

def next_logits(ids):
    """The table's scores for the token after ids: natural logs, minus infinity for what it does not name."""
    generated = [VOCAB[token] for token in ids[len(PROMPT_IDS):]]
    fitting = (row for row in ROWS if len(row["after"]) == len(generated))
    row = next((row for row in fitting if all(a in ("*", g) for a, g in zip(row["after"], generated))), OTHERWISE)
    logits = torch.full((len(VOCAB),), -torch.inf)
    values = row.get("logits", row.get("probs"))
    total = math.log(math.fsum(values.values())) if "probs" in row else None
    for token, value in values.items():
        logits[VOCAB.index(token)] = value if total is None else math.log(value) - total
    return logits
'''

APPLY: Final = '''

def apply(filters, ids, logits):
    """The scores after every filter; minus infinity: cannot be drawn."""
    scores = logits[None]
    for change in filters:
        scores = change(torch.tensor([ids], dtype=torch.long), scores)
    return scores[0]
'''

DRAW: Final = '''

def draw(scores, seed, number):
    """The token of a draw. The random number is a function of seed and number alone: nothing else moves it."""
    bits = int(np.random.Philox(key=seed, counter=number).random_raw())
    u = (bits >> 11) * 2.0**-53  # 53 bits make a double in [0, 1)
    order = np.lexsort((np.arange(len(scores)), -scores.numpy()))  # by falling score, ties by id
    order = order[: int((scores > -torch.inf).sum())]
    edges = np.cumsum(torch.softmax(scores, dim=-1).numpy()[order].astype(np.float64))
    edges *= 1.0 / edges[-1]  # upper ends of the intervals of [0, 1) laid out in this order
    edges[-1] = 1.0
    return int(order[np.searchsorted(edges, u, side="right")])
'''

GREEDY: Final = '''

def greedy(scores):
    """The token with the highest score, the lowest id on a tie."""
    return int(np.argmax(scores.numpy()))
'''

# Stages that transformers does not have, by name.
OWN_FILTERS: Final = {
    "presence_penalty": '''

def presence_penalty(penalty):
    """Lowers every token generated so far; not in transformers (as in the OpenAI API and vLLM)."""

    def change(ids, scores):
        scores = scores.clone()
        scores[:, torch.unique(ids[:, len(PROMPT_IDS):])] -= penalty
        return scores

    return change
''',
    "frequency_penalty": '''

def frequency_penalty(penalty):
    """Lowers a token once for every time it was generated; not in transformers (as in the OpenAI API and vLLM)."""

    def change(ids, scores):
        counts = torch.bincount(ids[0, len(PROMPT_IDS):], minlength=scores.shape[-1]).float()
        return scores - penalty * counts

    return change
''',
    "top_n_sigma": '''

def top_n_sigma(n):
    """Keeps scores within n standard deviations of the best; not in transformers (as in llama.cpp)."""

    def change(ids, scores):
        finite = scores[scores > -torch.inf].double()
        floor = (finite.max() - n * finite.std(correction=0)).float()
        return scores.masked_fill(scores < floor, -torch.inf)

    return change
''',
    "temperature": '''

def best_only(ids, scores):
    """Temperature 0: only the best token stays."""
    best = scores.argmax(dim=-1, keepdim=True)
    return torch.full_like(scores, -torch.inf).scatter(1, best, scores.gather(1, best))
''',
}

APPLY_STABLY: Final = '''

def apply(filters, ids, logits):
    """The scores after every filter; minus infinity: cannot be drawn."""
    scores = logits[None]
    with StableSort():
        for change in filters:
            scores = change(torch.tensor([ids], dtype=torch.long), scores)
    return scores[0]
'''

STABLE_SORT: Final = '''

class StableSort(torch.overrides.TorchFunctionMode):
    """Half precision gives many equal scores; a stable sort says which of them a nucleus takes in."""

    def __torch_function__(self, function, types, args=(), kwargs=None):
        return function(*args, **((kwargs or {}) | ({"stable": True} if function is torch.sort else {})))
'''

LOOP: Final = """
ids = list(PROMPT_IDS)
largest = 0.0  # difference of a log-probability here from the one in the session
for token, chosen, filters, seed, number, recorded in STEPS:
    logits = next_logits(ids)
    {choose}
    logprob = float(torch.log_softmax(logits.double(), dim=-1)[picked])
    if recorded is not None:
        largest = max(largest, abs(logprob - recorded))
    ids.append(picked)
    print(f"{picked:>7}  {logprob:9.4f}  {chosen:7}  {text_of(picked)!r}")
"""

NEXT: Final = """
# The ten likeliest tokens to come first: the probability that one is drawn, and the model's own.
ids = list(PROMPT_IDS)
logits = next_logits(ids)
model_probs = torch.softmax(logits.double(), dim=-1)
sampling_probs = torch.softmax(apply(FILTERS_NOW, ids, logits).double(), dim=-1)
for token in torch.argsort(sampling_probs, descending=True, stable=True)[:10].tolist():
    print(f"{token:>7}  {sampling_probs[token]:.6f}  {model_probs[token]:.6f}  {text_of(token)!r}")
"""
