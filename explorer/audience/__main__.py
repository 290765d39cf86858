"""``python -m explorer.audience SETTINGS``: what `dp-explorer serve --audience` becomes."""

from __future__ import annotations

import json
import sys
from functools import partial

from explorer.audience.import_guard import install


def main() -> int:
    """Serve what the first argument says, as JSON; 2 where it cannot be."""
    install()
    from explorer.audience.supervisor import Settings, serve
    from explorer.errors import InputError

    settings = json.loads(sys.argv[1])
    lists = {name: tuple(text) for name, text in settings.items() if isinstance(text, list)}
    try:
        serve(Settings(**{**settings, **lists}), partial(print, flush=True))
    except InputError as error:
        print(f"dp-explorer: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("dp-explorer: interrupted.", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
