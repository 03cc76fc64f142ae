"""The answers that need no provider.

catalog        GET /models, GET /models/{id} and GET /health
tools_check    POST /native/tools/check: which providers take a set of tools
translate      POST /native/translate: what a provider would be sent
paths          the served paths, and the errors for all others
"""
