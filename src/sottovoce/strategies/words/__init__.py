"""The prefixes strategy: words that nobody listed, found by their hashed prefixes."""
