"""Configurations held against each other: on one distribution, and along the texts they lead to."""
