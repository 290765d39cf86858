"""What every server of ours needs, whatever its pages: who asks, by which name, and how it ends."""
