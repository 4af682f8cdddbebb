"""Domain entities and their rules. Standard library only; no clock, no randomness, no I/O."""
