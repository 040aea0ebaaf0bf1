"""What collector and relay share: HTTP, settings, logs, processes, storage of what arrives."""
