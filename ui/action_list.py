"""Every action of the window by name: what it is called, what it does, its keys. For menus see `ui.menu_list`."""

from __future__ import annotations

from dataclasses import dataclass

from explorer.i18n import N_


@dataclass(frozen=True, slots=True)
class ActionSpec:
    """``text`` and ``help`` are msgids; ``keys`` are portable key sequences, the first one shown in the menu."""

    name: str
    text: str
    help: str
    keys: tuple[str, ...] = ()
    icon: str = ""
    choice: str = ""  # actions of one choice exclude each other
    switch: bool = False  # on or off by itself
    number: int = 0  # fills {number} in text and help


_PICK_HELP = N_("Take candidate {number} of the list, as it is sorted.")

ACTIONS: tuple[ActionSpec, ...] = (
    # File
    ActionSpec("new_session", N_("New session…"), N_("Go to the prompt to start another session."), ("Ctrl+N",)),
    ActionSpec("open_session", N_("Open a session…"), N_("Show the library of sessions."), ("Ctrl+O",)),
    ActionSpec(
        "import_sessions", N_("Import sessions…"), N_("Take over sessions from files that were shared (*.ttsession).")
    ),
    ActionSpec(
        "open_library",
        N_("Open another library…"),
        N_("Go on with the sessions of another file, or begin a new one. What is open is saved already."),
    ),
    ActionSpec("new_window", N_("New window"), N_("Open another window on the same library."), ("Ctrl+Shift+N",)),
    ActionSpec(
        "check_library", N_("Check the library"), N_("Look over every page and every session of the library's file.")
    ),
    ActionSpec(
        "back_up_library",
        N_("Back up now"),
        N_("Copy the library's file as it is, beside the copies that are made by themselves."),
    ),
    ActionSpec(
        "recover_library",
        N_("Recover from a damaged file…"),
        N_("Put what is left of a damaged library into a new one. The damaged file stays as it is."),
    ),
    ActionSpec(
        "export",
        N_("Export…"),
        N_("Write a picture of the tree, or the session's data for other tools, to a file."),
        ("Ctrl+E",),
        "export",
    ),
    ActionSpec("save_again", N_("Try to save again"), N_("Write to the library what could not be written before.")),
    ActionSpec("quit", N_("Quit"), N_("Close the window. Everything is saved already."), ("Ctrl+Q",)),
    # Edit
    ActionSpec(
        "undo",
        N_("Undo"),
        N_("Take back the last command. Nothing is lost: redo brings it again."),
        ("Ctrl+Z",),
        "undo",
    ),
    ActionSpec(
        "redo",
        N_("Redo"),
        N_("Bring the undone command again, with exactly the recorded outcome."),
        ("Ctrl+Shift+Z", "Ctrl+Y"),
        "redo",
    ),
    ActionSpec(
        "delete_branch",
        N_("Delete branch"),
        N_("Hide the current node and everything below it. Undo brings it back."),
        ("Ctrl+Backspace",),
    ),
    ActionSpec(
        "copy_text",
        N_("Copy the text"),
        N_("Copy the prompt and the text of the current path to the clipboard."),
        ("Ctrl+Shift+C",),
    ),
    ActionSpec(
        "copy_picture",
        N_("Copy picture"),
        N_("Copy a picture of the tree to the clipboard, as it was last chosen for an export."),
        ("Ctrl+Shift+E",),
    ),
    ActionSpec(
        "copy_python",
        N_("Copy as Python…"),
        N_("Show the current path as a script for plain torch and transformers that arrives at the same tokens."),
        ("Ctrl+Shift+P",),
    ),
    ActionSpec(
        "find",
        N_("Find a token…"),
        N_("Look up any token of the vocabulary by its text or id."),
        ("Ctrl+F", "/"),
        "find",
    ),
    ActionSpec("edit_prompt", N_("Edit the prompt"), N_("Put the cursor into the prompt."), ("Ctrl+L",)),
    ActionSpec("settings", N_("Settings"), N_("Show filters, stop rules and seed."), ("Ctrl+,",)),
    ActionSpec(
        "grammar",
        N_("Grammar…"),
        N_("Let the text follow a JSON schema, a regular expression or a Lark grammar."),
        ("Ctrl+G",),
    ),
    # View
    ActionSpec("fit", N_("Fit the tree"), N_("Show the whole tree."), ("F",), "fit"),
    ActionSpec("zoom_in", N_("Zoom in"), N_("Make the tree larger."), ("+", "="), "zoom_in"),
    ActionSpec("zoom_out", N_("Zoom out"), N_("Make the tree smaller."), ("-",), "zoom_out"),
    ActionSpec("center", N_("Show the current node"), N_("Bring the current node to the middle of the tree."), ("C",)),
    ActionSpec("theme_system", N_("Like the system"), N_("Light or dark as the system says."), choice="theme"),
    ActionSpec("theme_light", N_("Light"), N_("Dark text on a light ground."), choice="theme"),
    ActionSpec("theme_dark", N_("Dark"), N_("Light text on a dark ground."), choice="theme"),
    ActionSpec("language_en", "English", N_("Show the window in English."), choice="language"),
    ActionSpec("language_zh_CN", "简体中文", N_("Show the window in Simplified Chinese."), choice="language"),
    ActionSpec("log_nats", N_("Nats"), N_("Say logarithms and entropies in nats, everywhere."), choice="log"),
    ActionSpec("log_bits", N_("Bits"), N_("Say logarithms and entropies in bits, everywhere."), choice="log"),
    ActionSpec("map_cividis", "Cividis", N_("Colour probabilities from blue to yellow."), choice="map"),
    ActionSpec("map_viridis", "Viridis", N_("Colour probabilities from violet over green to yellow."), choice="map"),
    ActionSpec(
        "read_model",
        N_("By the model"),
        N_("Show the tree by the model's own probabilities: temperature 1, no filter."),
        choice="reading",
    ),
    ActionSpec(
        "read_recorded",
        N_("As recorded"),
        N_("Show the tree by the sampling probabilities in force when each token was taken."),
        choice="reading",
    ),
    ActionSpec(
        "read_what_if",
        N_("What if"),
        N_("Show the tree as the settings in hand would weigh it. What was recorded stays."),
        choice="reading",
    ),
    ActionSpec("motion", N_("Motion"), N_("New nodes slide in, and the view glides to its place."), switch=True),
    ActionSpec("reset_layout", N_("Reset layout"), N_("Put every panel back where it was at first.")),
    ActionSpec("palette", N_("All commands…"), N_("Find and run any command by its name."), ("Ctrl+K",)),
    # Tree
    ActionSpec(
        "find_in_tree",
        N_("Find in the tree…"),
        N_("Look for a text, a token or a note among everything that was tried."),
        ("Ctrl+Shift+F",),
    ),
    ActionSpec("find_next", N_("Next match"), N_("Go to the next node that was found."), ("F3",)),
    ActionSpec("find_previous", N_("Previous match"), N_("Go to the node found before this one."), ("Shift+F3",)),
    ActionSpec(
        "fold",
        N_("Fold or unfold"),
        N_("Put what follows the current node out of sight, or show it again. Nothing is deleted."),
        ("Z",),
    ),
    ActionSpec("unfold_all", N_("Unfold everything"), N_("Show again what was folded anywhere."), ("Shift+Z",)),
    ActionSpec(
        "focus_subtree",
        N_("Only this subtree"),
        N_("Show the current node and what follows it alone. Nothing is deleted."),
        ("O",),
    ),
    ActionSpec("whole_tree", N_("Whole tree"), N_("Show everything again, not only a subtree."), ("Shift+O",)),
    ActionSpec(
        "zoom_branch",
        N_("Zoom to the branch"),
        N_("Bring the current node and everything that follows it into sight."),
        ("Shift+F",),
    ),
    ActionSpec(
        "zoom_path", N_("Zoom to the path"), N_("Bring the way from the prompt to the current node into sight.")
    ),
    ActionSpec("star", N_("Star"), N_("Put a star on the current node, or take it away."), ("*",)),
    ActionSpec("note", N_("Note…"), N_("Write a note at the current node, or change it."), ("N",)),
    ActionSpec(
        "tree_leaf_slot", N_("A row for every end"), N_("Every path ends in a row of its own."), choice="tree_layout"
    ),
    ActionSpec("tree_tidy", N_("Tidy"), N_("Branches slide together as far as they can."), choice="tree_layout"),
    ActionSpec("tree_right", N_("To the right"), N_("The tree grows to the right."), choice="tree_orientation"),
    ActionSpec("tree_down", N_("Downwards"), N_("The tree grows downwards."), choice="tree_orientation"),
    ActionSpec(
        "tree_by_probability",
        N_("Probability"),
        N_("Colour every node by the probability of its token."),
        choice="tree_colour",
    ),
    ActionSpec(
        "tree_by_surprisal",
        N_("Surprisal"),
        N_("Colour every node by minus the logarithm of its token's probability: how unexpected it was."),
        choice="tree_colour",
    ),
    ActionSpec(
        "tree_by_entropy",
        N_("Entropy"),
        N_("Colour every node by the entropy of what may follow it: how undecided the model is there."),
        choice="tree_colour",
    ),
    ActionSpec(
        "tree_by_how",
        N_("How it was chosen"),
        N_("Colour every node by how its token came to be taken: greedy, drawn, by hand, by a search."),
        choice="tree_colour",
    ),
    ActionSpec(
        "tree_by_share",
        N_("Sampling share"),
        N_("Colour every node by the sampling probability recorded when its token was taken."),
        choice="tree_colour",
    ),
    ActionSpec("tree_by_none", N_("No colour"), N_("Do not colour the nodes."), choice="tree_colour"),
    ActionSpec("tree_widths", N_("Width by probability"), N_("Draw the edges of likelier tokens wider."), switch=True),
    ActionSpec(
        "tree_phrases",
        N_("Phrases"),
        N_("Write tokens that follow each other without branching into one box."),
        switch=True,
    ),
    ActionSpec("tree_labels", N_("Labels"), N_("Write the tokens into their boxes."), switch=True),
    # Model
    ActionSpec("models", N_("Models…"), N_("Show the models known and what is loaded."), ("Ctrl+M",), "model"),
    ActionSpec("open_folder", N_("Open a model folder…"), N_("Open a model in the Hugging Face layout.")),
    ActionSpec("open_gguf", N_("Open a GGUF file…"), N_("Import a GGUF file once, and open it.")),
    ActionSpec("open_hub", N_("Open from the hub…"), N_("Open a model of huggingface.co by its name.")),
    ActionSpec("open_table", N_("Open a table model…"), N_("Open a JSON table of next-token probabilities.")),
    ActionSpec("open_lesson", N_("Open the lesson “breakfast”"), N_("Open the small lesson of the first start.")),
    ActionSpec(
        "get_smollm2",
        N_("Get SmolLM2 (98 MB)"),
        N_("Fetch SmolLM2-135M-Instruct if it is not here yet, and open it."),
    ),
    ActionSpec(
        "check_transformers",
        N_("Check against transformers…"),
        N_("Run the library's own filters on this node's logits, and a pass without a cache, and compare the numbers."),
        ("Ctrl+Shift+T",),
    ),
    ActionSpec(
        "restart_engine",
        N_("Start the model again"),
        N_("Start the model's process again after it ended. The session stays as it is."),
    ),
    # Generate
    ActionSpec(
        "parent", N_("Parent"), N_("Go back to the parent. Nothing is deleted."), ("Left", "Backspace"), "parent"
    ),
    ActionSpec("greedy", N_("Greedy"), N_("Take the most probable token."), ("Right", "Space"), "greedy"),
    ActionSpec(
        "draw",
        N_("Draw"),
        N_("Draw a token from the sampling distribution with the session's seed and next draw number."),
        ("S",),
        "draw",
    ),
    ActionSpec(
        "go_on",
        N_("Go on past the stop"),
        N_("Take one greedy step although the path has ended; the stop stays on record."),
    ),
    ActionSpec(
        "run_greedy",
        N_("Run to a stop, greedy"),
        N_("Take the most probable token again and again until a stop rule ends the path."),
        ("Ctrl+Return", "Ctrl+Enter"),
        "run",
    ),
    ActionSpec(
        "run_draw",
        N_("Run to a stop, drawn"),
        N_("Draw tokens until a stop rule ends the path."),
        ("Ctrl+Shift+Return", "Ctrl+Shift+Enter"),
    ),
    ActionSpec(
        "run_n_greedy", N_("Run {number} tokens, greedy"), N_("Take {number} greedy steps, or fewer at a stop.")
    ),
    ActionSpec("run_n_draw", N_("Run {number} tokens, drawn"), N_("Draw {number} tokens, or fewer at a stop.")),
    ActionSpec("run_length", N_("Number of tokens to run…"), N_("Choose how many tokens “Run N tokens” takes.")),
    ActionSpec(
        "expand",
        N_("Expand here…"),
        N_("Show many continuations of the current node at once: so many children a level, or the likeliest first."),
        ("E",),
        "expand",
    ),
    ActionSpec(
        "sample_runs",
        N_("Sample runs…"),
        N_("Draw many texts from the current node at once, each with a seed of its own, and compare them."),
        ("R",),
        "runs",
    ),
    ActionSpec(
        "statistics",
        N_("Run statistics…"),
        N_("Draw many runs under one or more settings, and see which differences they really show."),
        ("Ctrl+Shift+R",),
    ),
    ActionSpec(
        "beam",
        N_("Beam search…"),
        N_("Follow several continuations of the current node at once, and see which are kept and which fall."),
        ("B",),
        "beam",
    ),
    ActionSpec(
        "query",
        N_("How likely is…"),
        N_("Ask how likely it is that the text goes on to match a text or a pattern."),
        ("Q",),
    ),
    ActionSpec(
        "score",
        N_("Score a text…"),
        N_("See how likely the model holds every token of a given text, beside what it would write itself."),
        ("T",),
    ),
    ActionSpec(
        "compare",
        N_("Compare settings…"),
        N_("Hold two configurations against each other, at the current node and along the texts they lead to."),
        ("V",),
    ),
    ActionSpec(
        "stop",
        N_("Stop"),
        N_("Stop after the pass in progress; what is finished stays. Once more ends the model's process."),
        ("Esc",),
        "stop",
    ),
    ActionSpec("leave_editor", N_("Leave the editor"), N_("Give the keys back to the tree."), ("Esc",)),
    ActionSpec("candidate_up", N_("Candidate above"), N_("Move up in the list of candidates."), ("Up",)),
    ActionSpec("candidate_down", N_("Candidate below"), N_("Move down in the list of candidates."), ("Down",)),
    ActionSpec("pick", N_("Pick the candidate"), N_("Take the marked candidate."), ("Return", "Enter")),
    ActionSpec("sibling_previous", N_("Sibling above"), N_("Go to the sibling above."), ("Alt+Up",)),
    ActionSpec("sibling_next", N_("Sibling below"), N_("Go to the sibling below."), ("Alt+Down",)),
    ActionSpec("root", N_("To the prompt"), N_("Go back to the prompt. Nothing is deleted."), ("Home",)),
    *(ActionSpec(f"pick_{n}", N_("Pick candidate {number}"), _PICK_HELP, (str(n),), number=n) for n in range(1, 10)),
    # Replay
    ActionSpec(
        "timeline",
        N_("Timeline…"),
        N_("Show every moment of this session, to be played like a film, and branched off."),
        ("M",),
    ),
    ActionSpec("play_film", N_("Play or pause"), N_("Play the session from the moment that is shown."), ("P",)),
    ActionSpec(
        "moment_back", N_("Moment before"), N_("Look at the moment before this one. Nothing is undone."), ("Alt+Left",)
    ),
    ActionSpec("moment_forward", N_("Moment after"), N_("Look at the moment after this one."), ("Alt+Right",)),
    ActionSpec("live", N_("Back to the present"), N_("Show the session as it stands now."), ("L",)),
    ActionSpec(
        "branch_off",
        N_("Branch off here"),
        N_("Return to the present, standing at the node of this moment. Nothing of what came later is lost."),
    ),
    ActionSpec(
        "verify",
        N_("Verify this session…"),
        N_("Run every recorded step again with the model, and compare the numbers and the choices."),
        ("Ctrl+Shift+Y",),
    ),
    ActionSpec(
        "keep_whole",
        N_("Keep the whole distribution"),
        N_("Store every token's score at the current node, so that its figures stay exact without the model."),
    ),
    # Lessons
    ActionSpec("lessons", N_("Lessons…"), N_("Show the lessons: predict first, then see."), ("Ctrl+Shift+L",)),
    ActionSpec("lesson_next", N_("Next step of the lesson"), N_("Go on in the lesson."), ("PgDown",)),
    ActionSpec("lesson_back", N_("Previous step of the lesson"), N_("Go back in the lesson."), ("PgUp",)),
    ActionSpec(
        "hall",
        N_("Lecture hall"),
        N_("Fill the screen, with large type and only the panels a lesson needs; once more brings all back."),
        ("F11",),
        switch=True,
    ),
    ActionSpec("tour", N_("First steps"), N_("Be shown around, in five minutes; it can be left at any step.")),
    # Help
    ActionSpec("help", N_("Help"), N_("Explain what has the keyboard focus, and search the pages."), ("F1",)),
    ActionSpec("shortcuts", N_("Keys…"), N_("Every command with its keys; change them here."), ("Ctrl+F1",)),
    ActionSpec("troubleshooting", N_("When something looks wrong…"), N_("Common surprises and what causes them.")),
    ActionSpec("welcome", N_("Welcome"), N_("Show the card of the first start again.")),
    ActionSpec("about", N_("About"), N_("Version, licence, and where files are kept.")),
)
