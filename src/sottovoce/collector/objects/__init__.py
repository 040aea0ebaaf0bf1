"""Counted reports in object storage, so that the database holds only the latest."""
