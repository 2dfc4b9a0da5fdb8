"""The version of the service, and the version of the API that it speaks."""

VERSION = "0.1.0"
"""Semantic version of the release; pyproject.toml and CHANGELOG.md have the same."""

API_VERSION = "1"
