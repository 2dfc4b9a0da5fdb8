"""The job kinds and periodic tasks that workers run."""
