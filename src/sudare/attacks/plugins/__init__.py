"""One file per attack or family of attacks; whatever is here is found."""
