"""Exit codes, as `token-tree --help` documents them."""

BAD_ARGUMENTS = 2
NO_MODEL = 3
ERROR = 4
INTERRUPTED = 130
