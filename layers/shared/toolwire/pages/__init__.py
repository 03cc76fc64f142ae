"""Answers that no provider is asked for: the catalog, `tools/check` and `translate`."""
