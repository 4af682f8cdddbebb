"""Toryo: a self-hosted control plane for teams of AI agents. The map of the packages is AGENTS.md."""

__version__ = "0.1.0"
