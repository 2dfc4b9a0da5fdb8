"""The index of the people whom jobs, saved profiles and rows of features mention."""
