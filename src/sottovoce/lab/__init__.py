"""Experiments, simulated fleets, populations, and the paper's algorithms as printed; nothing deployed imports it."""
