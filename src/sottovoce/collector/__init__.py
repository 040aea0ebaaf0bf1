"""The collector: an HTTP service that takes reports from devices, never loses one nor counts one twice.

Rooms: `intake` decodes strictly, `committer` makes reports durable before they are acknowledged, `aggregator` counts
each exactly once, `store` keeps everything, `api` speaks HTTP, `serve` runs it all.
"""
