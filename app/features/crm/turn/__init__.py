"""A worker's turn with a connection: its requests, the renewal of tokens, and the push of each contact."""
