"""Do-not-call registers: loading them, their page and endpoint, and what is done with the numbers in them."""
