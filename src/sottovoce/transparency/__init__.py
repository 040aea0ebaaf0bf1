"""A log of published surveys that only grows, so that everybody can check that all are shown the same list.

A Merkle tree (RFC 9162) over one leaf for each publication. A client that has seen one signed head can check that every
later one continues the same list; what a collector shows to some and hides from others is found out.
"""
