"""Figures made from plain data: colours, pictures, maps, bars. No mechanism is computed here.

What is wanted is imported from its module: a server loads none that draws before a page is opened.
"""
