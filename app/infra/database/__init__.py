"""The database: engines, transactions, column types, its clock and its backups."""
