"""The parts of the Learn page: lesson cards, and the experiments in them."""
