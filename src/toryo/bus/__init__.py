"""Wake-up hints: "look again". Rows are the truth; a lost hint costs time, never correctness."""
