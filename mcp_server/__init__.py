"""An MCP server: the API's endpoints as tools for AI agents, over HTTP to a running service."""
