"""Address books: contacts that a workspace has already, which it finds for free and shares with nobody."""
