"""The server for others: shows published folders and knows nothing else."""
