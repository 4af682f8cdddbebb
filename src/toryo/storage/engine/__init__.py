"""Running statements: connections and transactions on SQLite and PostgreSQL."""
