"""The exclusions of a workspace: companies and people that its members must not reveal."""
