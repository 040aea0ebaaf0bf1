"""Designs of relations: one product of features per person."""
