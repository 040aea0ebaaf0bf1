"""A relay: keeps sealed messages, shuffles them, and forwards them to a collector in batches that are large enough."""
