"""Gemini's API: POST /models/{model}:generateContent, :streamGenerateContent, :countTokens. `request.DOOR` is what the
registry loads.

request     the request: its path, fields and settings
json_forms  JSON as Google reads it: names in both spellings, schemas in its own words
tools       function declarations and toolConfig
history     contents and systemInstruction
parts       one part of a content
stream      the answer as chunks, in SSE or in one array
document    the answer as one JSON document
errors      errors, as google.rpc.Status
models      the list of models
"""
