"""Projects, agents and their members; the demo."""
