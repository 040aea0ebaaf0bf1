"""Oblivious HTTP (RFC 9458): a request sealed to the collector, which a relay passes on and cannot read.

The relay sees the device's address and not the request; the collector sees the request and not the address.
"""
