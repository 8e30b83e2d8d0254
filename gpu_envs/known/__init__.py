"""Knowledge about environments before they run: descriptions, their data, native modules."""
