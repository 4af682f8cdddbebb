"""Messages between members: mailboxes, conversations, delegations, notifications."""
