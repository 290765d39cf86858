"""EXACT. Federated heatmaps: places stay with people, a server sees masked sums."""
