"""How well the lookups of visited websites keep the visits private, and what that costs."""
