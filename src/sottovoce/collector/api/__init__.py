"""What the collector says over HTTP: one file a family of addresses, and what they share.

A handler takes a request and gives an `Answer`; beside it stands an `Operation`, from which the OpenAPI document is
made, so that no address can exist undocumented.
"""
