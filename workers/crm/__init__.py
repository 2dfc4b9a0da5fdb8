"""Calls to CRMs: the requests of a connection, the renewal of its tokens, and the push of one contact."""
