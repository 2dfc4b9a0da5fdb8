"""Monthly grants of credits: `flask credits grants`, and the step of the sweep that makes them."""
