"""People and agents: names, roles, rights, and the team of a project."""
