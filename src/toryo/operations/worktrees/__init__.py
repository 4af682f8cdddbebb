"""What a task's worktree may be used for, and the jobs that Coordinators do there."""
