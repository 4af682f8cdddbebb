"""Persistence: the database, its tables, and one small class per aggregate. Only this package imports SQLAlchemy."""
