"""The Messages wire: Claude."""
