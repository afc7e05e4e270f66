"""The local web page: the loop as one page per step, a thin face on the same calls."""
