"""The tools of public MCP servers and of agents, held against every provider: `make mcp-schemas`."""
