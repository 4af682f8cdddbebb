"""What a chat session does, and people's panels and threads."""
