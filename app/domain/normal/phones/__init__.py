"""Normal forms of phone numbers."""
