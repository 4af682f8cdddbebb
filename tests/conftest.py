"""Fixtures that every test folder may use."""

from tests.databases import database, database_url, postgres_empty, postgres_server, redis_url

__all__ = ["database", "database_url", "postgres_empty", "postgres_server", "redis_url"]
