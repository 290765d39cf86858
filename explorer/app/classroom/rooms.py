"""The classes of this server: one shelf for all visitors of the process."""

from __future__ import annotations

from explorer.teaching.classroom import ClassRooms

ROOMS = ClassRooms()
