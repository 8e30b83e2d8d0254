"""The rows of one role, and who plays the other roles."""
