"""The typed shapes of one protocol each, shared by its door and its provider."""
