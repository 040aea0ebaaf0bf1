"""Oblivious HTTP (RFC 9458): a request sealed to the collector, which a relay passes on and cannot read.

Whoever sees the device's address does not see the request, and whoever sees the request does not see the address.
"""
