"""How somebody is told something: mailboxes, conversations, delegations, notifications."""
