"""Keys, encryption, digests and signatures."""
