"""Words that are on several pages and must be the same on all."""

CURATOR = "contains exact counts: do not share this screen"
BADGE = CURATOR.capitalize()
HIDDEN = "Exact counts are hidden: press t to show them"
PREVIEW = "Preview: repeatable noise, must not be published"
DRAWN = "Private release: may be published"
