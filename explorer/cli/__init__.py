"""The command line, ``token-tree``: what the window does, without a window, through the same sessions."""

from explorer.cli.main import main

__all__ = ["main"]
