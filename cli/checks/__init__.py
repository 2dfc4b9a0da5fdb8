"""The checks of `flask doctor`, one module per subject; each yields findings and raises nothing."""
