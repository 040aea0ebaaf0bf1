"""Strategies that answer from the levels of a tree of intervals: hierarchical and Haar."""
