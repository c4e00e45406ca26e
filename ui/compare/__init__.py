"""Configurations side by side: at the current node, and along the texts they lead to."""
