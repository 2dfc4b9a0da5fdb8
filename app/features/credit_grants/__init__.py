"""Monthly grants of credits: `flask credits grants`, a page for operators, and the step of the sweep."""
