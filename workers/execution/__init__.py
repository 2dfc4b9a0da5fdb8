"""Running a job: claim it, resolve it, settle it, and notify the waiting requests."""
