"""The gateway's own API."""
