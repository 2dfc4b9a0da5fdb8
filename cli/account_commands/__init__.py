"""The commands of `flask accounts` that are longer, and their options."""
