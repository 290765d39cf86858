"""Work in the background of a session, and Panel's websocket; PUBLIC."""
