"""The OpenAPI document, the documentation pages and the start page."""
