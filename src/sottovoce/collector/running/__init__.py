"""A service from its settings to its end: processes, locks, log, health, backups."""
