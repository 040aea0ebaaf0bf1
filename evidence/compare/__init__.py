"""Comparison with other packages for local differential privacy on the same data."""
