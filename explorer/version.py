"""The version: its one home, known to files and packages alike."""

__version__ = "0.1.0"
