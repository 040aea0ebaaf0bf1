"""The tables strategy: which tables devices answer, and how tables that overlap are combined."""
