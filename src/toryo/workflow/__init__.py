"""The decisions: who should be running, and what they do next. Imports `domain` and nothing else."""
