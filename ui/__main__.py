"""`python -m ui` and `token-tree-explorer`: open the window.

Qt is imported only inside `main`: the engine process is spawned, imports this module again, and must stay without it.
"""

from __future__ import annotations

import sys

from explorer.allocation import lasting_imports


def main() -> None:
    """Run the window until it is closed, then leave with its exit code."""
    with lasting_imports():
        from ui.app import run  # see the module's docstring

    sys.exit(run(sys.argv[1:]))


if __name__ == "__main__":
    main()
