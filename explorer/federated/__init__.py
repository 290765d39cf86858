"""EXACT. Federated: people keep their places, a server adds masked vectors and refines a map."""
