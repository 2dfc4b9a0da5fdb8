"""The index of the people whom jobs, saved profiles and uploaded rows mention."""
