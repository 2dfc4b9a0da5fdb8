"""Normal forms of companies' names and domains."""
