"""The Class page: entrance, a teacher's screen, a participant's, how both are notified."""
