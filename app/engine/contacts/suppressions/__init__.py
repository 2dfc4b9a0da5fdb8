"""The suppression list: who must not be disclosed, looked up or imported."""
