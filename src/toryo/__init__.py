"""Toryo: a self-hosted control plane for teams of AI agents. The map of the packages is AGENTS.md."""

__version__ = "0.2.0.dev36"
"""Until it is released, a version ends with that of the database's tables (storage/migrations): two builds whose tables
differ are told apart."""
