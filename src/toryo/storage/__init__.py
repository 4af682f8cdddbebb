"""What is true: the database, its tables, and one small class per aggregate. SQLAlchemy is imported here only."""
