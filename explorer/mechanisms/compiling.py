"""Compiling before anything is paid for."""

from __future__ import annotations

from explorer.privacy.noise import PreviewNoise


class AskedNoise(PreviewNoise):
    """The noise of a preview, asked for every draw as the source of a release is.

    `Curator.cut` has a shorter way for previews alone.
    """
