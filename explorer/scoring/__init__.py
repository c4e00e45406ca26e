"""Given texts: how likely the model holds every token, what it would have preferred, and what that adds up to."""
