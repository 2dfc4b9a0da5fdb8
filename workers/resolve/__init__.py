"""Resolution of a field, a profile or an item: stored data first, then the provider waterfall."""
