"""People: accounts, browsers, access tokens, passwords."""
