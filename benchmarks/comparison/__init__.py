"""The comparison: the product beside the systems that a team would otherwise build, doing the same work."""
