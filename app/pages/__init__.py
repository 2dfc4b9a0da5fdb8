"""The pages of a workspace for browsers: one module per subject, with its templates beside it."""
