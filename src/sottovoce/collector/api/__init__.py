"""The HTTP API: one file per family of addresses, and what they share.

A handler is a typed function. `route` binds its arguments, and the OpenAPI document is made from its signature, so that
no address is undocumented.
"""
