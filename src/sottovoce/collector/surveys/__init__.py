"""Published surveys: how they are read, listed, logged, and opened and closed by the clock."""
