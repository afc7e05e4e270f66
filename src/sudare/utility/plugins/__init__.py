"""One file per metric or family of metrics; whatever is here is found."""
