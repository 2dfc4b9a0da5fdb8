"""Exclusions: the endpoints, the page and the lists with which admins say whom nobody is to reveal."""
