"""The Trips page: linked maps of the places of trips, questions from, via and to."""
