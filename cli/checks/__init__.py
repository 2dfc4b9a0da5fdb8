"""What `flask doctor` examines, one module per subject; each yields findings and raises nothing."""
