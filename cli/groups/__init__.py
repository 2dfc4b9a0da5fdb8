"""What all groups of commands do: open the database, print, and record themselves in the audit log."""
