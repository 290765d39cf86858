"""What a person has to say about a release, asked once and kept with its population.

Nothing here is known to the program, and nothing is invented: what is missing is asked for.
"""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import yaml

from explorer.errors import InputError
from explorer.grid.values import nearest
from explorer.grid.whole_file import write_whole

_LONGEST = 2_000
_MOST_BYTES = 100_000
#: Who publishes, and in which field, in the words of the public registry.
CURATOR_TYPES = ("Academic", "Company", "Government", "Nonprofit", "Other")
SECTORS = (
    *("Education", "Energy", "Finance", "Government", "Healthcare", "Labor", "Technology"),
    *("Transportation", "Other"),
)
#: Whether settings were chosen by looking at exact errors, or at true and private maps together.
TUNED = ("no", "yes", "unknown")


@dataclass(frozen=True)
class Question:
    """One thing to say.

    Parameters
    ----------
    name : of the field of `About`
    label : on a screen
    asks : what is to be said
    among : the answers that there are, () for any text
    """

    name: str
    label: str
    asks: str
    among: tuple[str, ...] = ()


QUESTIONS = (
    Question("title", "Title", "what the map shows, in a few words"),
    Question("curator", "Curator", "who publishes it: a person or an organisation"),
    Question("curator_type", "Kind of curator", "what the curator is", CURATOR_TYPES),
    Question("region", "Region", "which place it is of, such as San Francisco, USA"),
    Question("sector", "Sector", "the field that it comes from", SECTORS),
    Question("use", "Intended use", "what it is meant for"),
    Question("record", "One record is", "what one record is, such as one pick-up of a taxi"),
    Question(
        "tuned",
        "Chosen by exact errors",
        "whether settings were chosen by looking at exact errors or at the true map",
        TUNED,
    ),
    Question("why", "Why this epsilon", "why this epsilon"),
    Question("licence", "Licence", "under which licence others may use it, such as CC BY 4.0"),
    Question("cleaning", "Cleaning", "what was left out or changed before counting, or nothing"),
)


@dataclass(frozen=True)
class About:
    """What a person says of a release, one text for each of the `QUESTIONS`.

    Raises
    ------
    InputError
        For an answer that is empty, too long, or not among those that there are.
    """

    title: str
    curator: str
    curator_type: str
    region: str
    sector: str
    use: str
    record: str
    tuned: str
    why: str
    licence: str
    cleaning: str

    def __post_init__(self) -> None:
        for question in QUESTIONS:
            object.__setattr__(
                self, question.name, _checked(question, getattr(self, question.name))
            )

    @classmethod
    def of(cls, answers: Mapping[str, Any]) -> About:
        """From answers by name.

        Raises
        ------
        InputError
            For what is missing, in one sentence for all of it, and for what no one asked.
        """
        names = {question.name for question in QUESTIONS}
        for name in answers:
            if name not in names:
                near = nearest(str(name), names)
                raise InputError(
                    f"{str(name)[:40]!r} is nothing that is asked about a release"
                    + (f"; did you mean {near!r}?" if near else ".")
                )
        missing = [q for q in QUESTIONS if not str(answers.get(q.name) or "")]
        if missing:
            questions = "; ".join(f"{q.name} ({q.asks})" for q in missing)
            raise InputError(f"Say of this release, once for its population: {questions}.")
        return cls(**{name: value for name, value in answers.items() if value is not None})

    def facts(self) -> dict[str, str]:
        """The answers by name."""
        return asdict(self)


def read(path: Path) -> dict[str, Any]:
    """Answers from a YAML file, not all of which need be there.

    Raises
    ------
    InputError
        For a file that is missing, too long, or no list of names and texts.
    """
    try:
        with path.open("rb") as file:
            content = file.read(_MOST_BYTES + 1)
    except OSError as error:
        raise InputError(f"{path} cannot be read ({error.strerror}); check its name.") from error
    try:
        text = content.decode("utf8")
        # Aliases unfold to any size.
        aliases = any(isinstance(event, yaml.AliasEvent) for event in yaml.parse(text))
        if len(content) > _MOST_BYTES or aliases:
            raise ValueError
        answers = yaml.safe_load(text)
    except (ValueError, yaml.YAMLError, RecursionError) as error:
        raise InputError(
            f"{path} is no file of answers about a release; write lines such as 'curator: City "
            "of Amber'."
        ) from error
    if answers is None:
        return {}
    if not isinstance(answers, dict) or not all(isinstance(name, str) for name in answers):
        raise InputError(f"{path} holds no answers; write lines such as 'curator: City of Amber'.")
    # YAML takes a plain no for a value of its own.
    plain = {True: "yes", False: "no"}
    return {n: plain.get(v, v) if isinstance(v, bool) else v for n, v in answers.items()}


class KeptAnswers:
    """The folder of what was said of populations, next to a ledger.

    Parameters
    ----------
    ledger : the ledger's file

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     kept = KeptAnswers(Path(folder) / "ledger.sqlite3")
    ...     kept.keep("riders", {"curator": "City of Amber"})
    ...     print(kept.of("riders"), kept.of("others"))
    {'curator': 'City of Amber'} {}
    """

    def __init__(self, ledger: Path) -> None:
        self.folder = ledger.with_suffix(".about")

    def of(self, population: str) -> dict[str, Any]:
        """What was said of a population, {} where nothing was."""
        path = self._path(population)
        return read(path) if path.is_file() else {}

    def keep(self, population: str, answers: Mapping[str, Any]) -> None:
        """Keep answers.

        Raises
        ------
        InputError
            When they cannot be written.
        """
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(
                f"The folder {self.folder} cannot be made ({error.strerror}); what was said "
                "about this release is not kept."
            ) from error
        text = yaml.safe_dump(dict(answers), allow_unicode=True, sort_keys=False, width=100)
        write_whole(self._path(population), lambda part: part.write_text(text, "utf8"))

    def _path(self, population: str) -> Path:
        # A name of people may hold any sign; a file's may not.
        digest = hashlib.sha256(population.encode()).hexdigest()[:24]
        return self.folder / f"{digest}.yaml"


def _checked(question: Question, answer: Any) -> str:
    if not isinstance(answer, str | int | float) or isinstance(answer, bool):
        raise InputError(f"{question.label} is no text: say {question.asks}.")
    text = " ".join(unicodedata.normalize("NFC", str(answer)).split())
    text = "".join(sign if sign.isprintable() else " " for sign in text)
    if not text or len(text) > _LONGEST:
        raise InputError(
            f"{question.label} has {len(text):,} characters: say {question.asks}, in 1 to "
            f"{_LONGEST:,}."
        )
    if question.among:
        result = {choice.casefold(): choice for choice in question.among}.get(text.casefold())
        if result is None:
            raise InputError(
                f"{question.label} is {text[:40]!r}: choose one of {', '.join(question.among)}."
            )
        return result
    return text
