"""A SQLite database that survives crashes and full disks, and what arrives on its way there."""
