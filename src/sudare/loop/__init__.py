"""The loop over a table and its release: evidence, comparison of recipes, what stands out."""
