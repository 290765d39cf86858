"""Parts of the Compare page: two mechanisms beside each other, and sweeps over epsilon."""
