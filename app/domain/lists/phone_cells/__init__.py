"""Cells with phone numbers: one or several, with labels and extensions, of the list's countries."""
