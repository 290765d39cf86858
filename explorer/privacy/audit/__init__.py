"""EXACT. The audit: looks for breaches of the privacy claim."""
