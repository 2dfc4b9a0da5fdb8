"""The `flask` commands: the operator's side, above the application and the workers."""
