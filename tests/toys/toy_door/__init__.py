"""A door that shares nothing with the built ones: the model and whether to stream stand in the path, the key in the
query, and the words are its own. `request.DOOR` is what the registry loads."""
