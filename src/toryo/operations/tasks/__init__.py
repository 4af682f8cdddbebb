"""Tasks: creating, moving, assigning, requests and approvals, the board, acceptance checks."""
