"""A wire and a door that no vendor has: `test_registry.py` shows that each needs a folder and a row of its registry."""
