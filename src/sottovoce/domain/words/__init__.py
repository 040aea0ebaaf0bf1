"""Values nobody listed: codes that turn a word into bits, and back."""
