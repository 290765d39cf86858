"""Where points come from: files and frames, each opened for a look before anything is read."""
