"""The checks that CI runs on every change."""
