"""The queue protocol: agents that run already, their claims, API keys and shared state."""
