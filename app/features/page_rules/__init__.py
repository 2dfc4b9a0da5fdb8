"""The page rules: a signed file that says which elements of a web page are people, for the extension."""
