"""Answers that no provider is asked for.

catalog        GET /models, GET /models/{id} and GET /health
tools_check    POST /native/tools/check: which providers take a set of tools
translate      POST /native/translate: what a provider would be sent
paths          the paths that are served, and the answer to every other
"""
