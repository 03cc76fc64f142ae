"""The Responses wire."""
