"""The Federated page: people keep their places, a server adds masked vectors round by round."""
