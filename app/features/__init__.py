"""The features of the service: each has a package here, and a line in `app.feature_registry`."""
