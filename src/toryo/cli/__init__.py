"""The command line: one file per group of commands. docs/reference/cli.md describes what scripts may rely on."""
