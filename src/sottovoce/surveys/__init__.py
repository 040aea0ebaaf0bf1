"""Surveys: the frozen description of one collection, its aggregates, and its estimates."""
