"""From the body of a request to reports that are durable."""
