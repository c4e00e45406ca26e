"""Given texts, scored: coloured, as a table, and beside what the model writes by itself."""
