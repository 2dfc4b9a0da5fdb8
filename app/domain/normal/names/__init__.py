"""Normal forms of people's names: their parts, their order, and what is not part of them."""
