"""The pages of the app, each servable alone and usable in a notebook cell."""
