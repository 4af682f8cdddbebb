"""The agents that are part of Toryo: programs of their own that speak to the server like any other MCP client."""
