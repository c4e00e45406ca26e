"""``python -m explorer`` is the command line, ``token-tree``."""

from explorer.cli import main

if __name__ == "__main__":
    main()
