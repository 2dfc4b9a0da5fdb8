"""The private index of a workspace's CRM: who is in it, found by keyed digests, with encrypted values."""
