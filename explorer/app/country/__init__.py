"""The Country page: areas inside each other, private against true, and a map inside each."""
