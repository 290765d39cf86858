"""Parts of the Compare page: two mechanisms next to each other, and sweeps over epsilon."""
