"""Which stored person or company a record is about, and what becomes of both (entity resolution)."""
