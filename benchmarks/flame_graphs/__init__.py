"""Flame graphs of the product's processes under load."""
