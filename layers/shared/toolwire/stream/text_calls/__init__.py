"""Tool calls that a model wrote as text become calls."""
