"""What analysts are shown, and the process that makes it."""
