"""The nouns of the waist: request, events, response, errors, limits. Imports nothing else of ours."""
