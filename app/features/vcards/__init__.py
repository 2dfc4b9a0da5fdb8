"""vCards of the people whom a workspace revealed or saved."""
