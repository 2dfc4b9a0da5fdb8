"""The Grafana dashboard: its panels, and the command that writes it."""
