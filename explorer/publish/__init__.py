"""What leaves the house: a folder that others read, check and quote. Knows no exact number."""
