"""The command line: one file per group of commands. What scripts may rely on stands in docs/reference/cli.md."""
