"""The schema's history. A released migration is never edited; it spells out its tables, no mapped classes."""
