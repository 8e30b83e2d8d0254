"""What is known before anything runs: environments, their data, native modules."""
