"""The terminal: text, keys, pictures, progress, and options of command lines."""
