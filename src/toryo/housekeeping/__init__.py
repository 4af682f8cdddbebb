"""What happens because time passes: `runner.py`, and one file per chore."""
