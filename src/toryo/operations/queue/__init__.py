"""The queue protocol: agents that already run, their claims, API keys and shared state."""
