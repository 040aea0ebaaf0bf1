"""Measurements of errors on simulated people."""
