"""Request to request: what is changed in a neutral request so that a provider can take it."""
