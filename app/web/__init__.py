"""What endpoints and pages stand on: authentication, bodies, errors, limits and responses."""
