"""Built-in tables and the catalog of public ones; nothing here knows what a Dataset is."""
