"""Who there is: names, roles, rights, and the team of a project."""
