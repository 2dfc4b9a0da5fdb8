"""The company filter: a signed file of known companies that extensions download, and its evaluation."""
