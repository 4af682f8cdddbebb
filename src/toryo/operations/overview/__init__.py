"""What people look at: home, needs, stuck work, status of teams and queues, usage, activity."""
