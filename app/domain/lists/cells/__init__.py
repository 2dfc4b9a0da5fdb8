"""Reading of single cells: dates, flags, addresses, places and names as lists have them."""
