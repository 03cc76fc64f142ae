"""A Lambda invocation from event to answer."""
