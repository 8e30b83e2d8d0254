"""Adapters for libraries whose interface is not Gymnasium's; each imports its library itself."""
