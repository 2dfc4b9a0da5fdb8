"""Request and response schemas shared by several endpoints."""
