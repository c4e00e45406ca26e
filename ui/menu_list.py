"""Which actions stand in which menus, and in the toolbar."""

from __future__ import annotations

from explorer.i18n import N_

SEPARATOR = "-"

_PICKS = tuple(f"pick_{n}" for n in range(1, 10))

# Menus by title; an entry is an action's name, a separator, a submenu, or a slot filled by the window ("@docks").
Menu = tuple[str, tuple["str | Menu", ...]]

TREE_OPTIONS: tuple[Menu, ...] = (
    (N_("Layout"), ("tree_leaf_slot", "tree_tidy")),
    (N_("Direction"), ("tree_right", "tree_down")),
    (
        N_("Colour by"),
        (
            "tree_by_probability",
            "tree_by_surprisal",
            "tree_by_entropy",
            "tree_by_how",
            "tree_by_share",
            "tree_by_none",
        ),
    ),
    (N_("Probabilities of the tree"), ("read_model", "read_recorded", "read_what_if")),
    (N_("Show"), ("tree_widths", "tree_phrases", "tree_labels")),
)
"""How the tree is looked at."""

MENUS: tuple[Menu, ...] = (
    (
        N_("&File"),
        (
            "new_session",
            "open_session",
            "import_sessions",
            SEPARATOR,
            "open_library",
            "new_window",
            (N_("Care of the library"), ("check_library", "back_up_library", "recover_library")),
            SEPARATOR,
            "export",
            "save_again",
            SEPARATOR,
            "quit",
        ),
    ),
    (
        N_("&Edit"),
        (
            "undo",
            "redo",
            SEPARATOR,
            "delete_branch",
            "copy_text",
            "copy_picture",
            "copy_python",
            SEPARATOR,
            "find",
            "edit_prompt",
            SEPARATOR,
            "settings",
            "grammar",
        ),
    ),
    (
        N_("&View"),
        (
            "fit",
            "zoom_in",
            "zoom_out",
            "center",
            SEPARATOR,
            (N_("Panels"), ("@docks",)),
            "reset_layout",
            SEPARATOR,
            (N_("Theme"), ("theme_system", "theme_light", "theme_dark")),
            (N_("Language"), ("language_en", "language_zh_CN")),
            (N_("Logarithms"), ("log_nats", "log_bits")),
            (N_("Colour map"), ("map_cividis", "map_viridis")),
            "motion",
            SEPARATOR,
            "palette",
        ),
    ),
    (
        N_("&Tree"),
        (
            "find_in_tree",
            "find_next",
            "find_previous",
            SEPARATOR,
            "fold",
            "unfold_all",
            "focus_subtree",
            "whole_tree",
            SEPARATOR,
            "zoom_branch",
            "zoom_path",
            SEPARATOR,
            "star",
            "note",
            SEPARATOR,
            *TREE_OPTIONS,
        ),
    ),
    (
        N_("&Model"),
        (
            "models",
            SEPARATOR,
            "open_folder",
            "open_gguf",
            "open_hub",
            "open_table",
            SEPARATOR,
            "get_smollm2",
            "open_lesson",
            SEPARATOR,
            "check_transformers",
            "restart_engine",
        ),
    ),
    (
        N_("&Generate"),
        (
            "greedy",
            "draw",
            "pick",
            (N_("Pick candidate"), _PICKS),
            "go_on",
            SEPARATOR,
            "run_greedy",
            "run_draw",
            "run_n_greedy",
            "run_n_draw",
            "run_length",
            SEPARATOR,
            "expand",
            "sample_runs",
            "statistics",
            "beam",
            "query",
            "score",
            "compare",
            SEPARATOR,
            "stop",
            SEPARATOR,
            "parent",
            "sibling_previous",
            "sibling_next",
            "root",
            "candidate_up",
            "candidate_down",
        ),
    ),
    (
        N_("&Replay"),
        (
            "timeline",
            "play_film",
            "moment_back",
            "moment_forward",
            SEPARATOR,
            "live",
            "branch_off",
            SEPARATOR,
            "verify",
            "keep_whole",
        ),
    ),
    (
        N_("&Help"),
        (
            "help",
            "welcome",
            "tour",
            "lessons",
            "lesson_next",
            "lesson_back",
            "hall",
            SEPARATOR,
            "shortcuts",
            "troubleshooting",
            SEPARATOR,
            "about",
        ),
    ),
)

TOOLBAR: tuple[str, ...] = (
    "@model", "parent", "greedy", "draw", "@run", "stop", SEPARATOR, "expand", "sample_runs", "beam", SEPARATOR,
    "undo", "redo", SEPARATOR, "find", "fit", "@space", "palette",
)  # fmt: skip
RUN_MENU: tuple[str, ...] = (
    "run_greedy",
    "run_draw",
    SEPARATOR,
    "run_n_greedy",
    "run_n_draw",
    "run_length",
    SEPARATOR,
    "sample_runs",
)
