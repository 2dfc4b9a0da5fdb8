"""Reading of files: encodings, separators, records of CSV files and rows of workbooks."""
