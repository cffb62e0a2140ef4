"""What `jupyter lite build` runs for a site that has pywebmcp installed; nothing of it is in a page."""
