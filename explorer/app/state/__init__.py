"""What a page's screen is set to: checked parameters, and nothing drawn."""
