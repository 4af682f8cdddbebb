"""Wake-up hints. The database is the truth; a lost hint costs time, never correctness."""
