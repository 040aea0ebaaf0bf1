"""Report files: found, read and validated, for every engine."""
