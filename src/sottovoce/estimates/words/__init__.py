"""Estimates of words that nobody listed: the search for them, and their intervals."""
