"""The collector: an HTTP service that accepts reports from devices, loses none and counts none twice.

Rooms: `intake` decodes strictly, `committer` makes reports durable before they are acknowledged, `aggregator` counts
each exactly once, `store` keeps everything, `api` speaks HTTP, `serve` runs it all.
"""
