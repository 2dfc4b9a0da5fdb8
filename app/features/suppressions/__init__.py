"""Suppressions: operators list, import and remove people who must not be shown, looked up or imported."""
