"""What the paper on federated heatmaps (heatmaps-2022) claims, checked on made-up people.

`claims` holds the claims and tables, `bench` measures, `maps` makes maps and visitors, and
`methods` are the ways to ask.
"""
