"""Teaching: the experiments behind the lessons, and the lessons themselves as files.

Every number here comes from exact counts or from previews: all of it is the curator's.
"""

from explorer.teaching.experiments import EXPERIMENTS
from explorer.teaching.lessons import Lesson, lesson, lessons

__all__ = ["EXPERIMENTS", "Lesson", "lesson", "lessons"]
