"""Crews that obey while everything around them changes, at every step (AGENTS.md, Explore)."""
