"""The sign-in at an OpenID provider: its client, its documents, and the verification of its ID tokens."""
