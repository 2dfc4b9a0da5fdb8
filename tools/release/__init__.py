"""What a release consists of, and the check of the API against the last one."""
