"""The collector: an HTTP service that accepts reports from devices, loses none and counts none twice.

Rooms: `intake` decodes strictly and makes reports durable before they are acknowledged, `counting` counts each exactly
once, `store` keeps everything and `objects` what is old, `reading` is what analysts are shown, `api` and `pages` speak
HTTP, `running` is a service from its settings to its end.
"""
