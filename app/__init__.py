"""The application: HTTP API, pages, business rules and data; it never calls providers."""
