"""What cells may hold: hierarchies, recoded values, sets, and what each may stand for."""
