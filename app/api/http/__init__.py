"""HTTP machinery of the endpoints: authentication, bodies, errors, limits and job responses."""
