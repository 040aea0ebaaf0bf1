"""Drawing estimates and plans with matplotlib."""
