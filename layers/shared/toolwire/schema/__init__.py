"""JSON Schema for tools: checks of a client's schema, and its conversion to what each provider takes."""
