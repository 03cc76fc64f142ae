"""A wire that shares nothing with the built ones: answers are netstrings, the model stands in the path beside a query,
and a request is signed as a whole. `request.PROVIDER` is what the registry loads."""
