"""The path of every call: who calls, what they may, its arguments, the catalogue of operations, the log of calls."""
