"""The configuration document, read once and checked."""
