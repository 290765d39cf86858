"""Words that stand on several pages and must be the same on all."""

CURATOR = "curator mode: this screen shows exact counts"
PREVIEW = "Preview: reproducible dice, not private"
DRAWN = "Release: drawn once with release-grade noise"
