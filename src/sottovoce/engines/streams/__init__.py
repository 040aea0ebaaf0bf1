"""Following reports as they come, with Structured Streaming: each counted once, in whatever batch it comes."""
