"""Decisions: which agents should be running, and what they do next. Imports `domain` and nothing else."""
