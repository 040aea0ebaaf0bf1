"""Measurements on simulated people: how large errors really are, and the demonstration."""
