"""Token Tree Explorer: everything that is not a window. Imports no Qt."""

__version__ = "0.1.0"
