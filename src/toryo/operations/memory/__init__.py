"""What a team knows about its project: memories, and finding them and what was reported, handed over and said."""
