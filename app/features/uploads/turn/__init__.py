"""What a worker does at its turn at an upload: reads the file, and prices its rows."""
