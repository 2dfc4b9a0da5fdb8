"""Generated requests against the real service, made by Schemathesis from its OpenAPI document."""
