"""The way from the body of a request to durable reports."""
