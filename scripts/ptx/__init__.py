"""Kernels as nvcc compiles them, run on the CPU: checked, covered and counted."""
