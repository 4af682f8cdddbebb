"""What a caller can ask for: one declaration per operation, one group per file. `perform.py` is the one path."""
