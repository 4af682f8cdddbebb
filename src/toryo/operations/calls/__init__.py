"""The path of every call: authentication, permissions, arguments, the catalogue of operations, the log of calls."""
