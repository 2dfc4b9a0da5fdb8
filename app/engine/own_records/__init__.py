"""What a workspace has of people in systems of its own, such as its CRM: free for it, and private to it."""
