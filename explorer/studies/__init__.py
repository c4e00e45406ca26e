"""Run statistics: many seeded runs under several settings, what came of them, and what may be said about it."""
