"""The neutral model: request, events, response, errors, limits. Imports nothing else of ours."""
