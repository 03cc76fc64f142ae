"""JSON Schema for tools: what may come in, and what each provider can be told without a change of meaning."""
