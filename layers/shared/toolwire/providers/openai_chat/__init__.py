"""The Chat Completions wire: OpenAI and every compatible host."""
