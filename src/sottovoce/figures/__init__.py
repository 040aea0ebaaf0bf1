"""How estimates and plans are drawn."""
