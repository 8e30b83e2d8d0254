"""Saved policies: networks, files, and teams that act; needs torch."""
