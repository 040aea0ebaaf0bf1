"""Counting on the cores of this machine."""
