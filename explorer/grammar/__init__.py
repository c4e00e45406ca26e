"""Grammars that generated text must follow: JSON schemas, regular expressions, Lark grammars, compiled by llguidance.

llguidance is imported only when a grammar is set: neither the window's start nor a step without one pays for it.
Everything here knows the vocabulary alone, so a stored session keeps its grammar without its model.
"""
