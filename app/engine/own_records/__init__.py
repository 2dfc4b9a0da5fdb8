"""What a workspace has of people in systems of its own: private to it, and free for it."""
