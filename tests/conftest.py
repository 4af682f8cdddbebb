"""Fixtures that every test folder may use."""

from tests.databases import database, database_url, postgres_empty, postgres_server

__all__ = ["database", "database_url", "postgres_empty", "postgres_server"]
