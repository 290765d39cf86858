"""Widgets, panes, words and colours that every page uses; PUBLIC."""
