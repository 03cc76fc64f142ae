#!/bin/sh
# One request a line with curl: a call, streamed; the same by Anthropic's API; the models; what a provider would be sent.
set -eu
url=${TOOLWIRE_URL:-http://127.0.0.1:8080/v1}
json='content-type: application/json'

curl -sN "$url/chat/completions" -H "$json" -d '{
  "model": "demo/openai", "stream": true,
  "messages": [{"role": "user", "content": "What is the weather in Paris?"}],
  "tools": [{"type": "function", "function": {"name": "get_weather",
    "parameters": {"type": "object", "properties": {"location": {"type": "string"}}, "required": ["location"]}}}]}'

curl -s "$url/messages" -H "$json" -H 'anthropic-version: 2023-06-01' -d '{
  "model": "demo/gemini", "max_tokens": 200,
  "messages": [{"role": "user", "content": "What is the weather in Paris?"}],
  "tools": [{"name": "get_weather",
    "input_schema": {"type": "object", "properties": {"location": {"type": "string"}}, "required": ["location"]}}]}'

curl -s "$url/models/demo/openai"

curl -s "$url/native/translate" -H "$json" -d '{
  "door": "chat_completions",
  "body": {"model": "demo/anthropic", "messages": [{"role": "user", "content": "Hello"}]}}'
