"""One file per method or family of methods; whatever is here is found."""
