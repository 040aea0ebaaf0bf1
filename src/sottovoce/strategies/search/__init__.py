"""Searches for factorizations and channels of least noise, with certificates and lower bounds."""
