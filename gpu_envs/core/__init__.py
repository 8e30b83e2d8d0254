"""One simulator: its arrays, actions, spaces, roles, resets, columns and pictures."""
