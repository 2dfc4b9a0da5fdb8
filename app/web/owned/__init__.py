"""The people that a workspace revealed or saved, and its lists: read, downloaded and changed."""
