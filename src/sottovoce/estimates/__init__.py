"""Estimates: answers with intervals, their combinations and tables, and the same over time."""
