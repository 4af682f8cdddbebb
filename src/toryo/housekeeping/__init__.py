"""Chores that run at intervals: `runner.py`, and one module per chore."""
