"""What a command says when it refuses."""

from explorer.cli import main


def typed(line, **stand_ins):
    """The words of a command line; some of them stand for several."""
    return [each for word in line.split() for each in stand_ins.get(word, word).split()]


def refusal(capsys, *arguments):
    """The one line of a command line that must be refused, with nothing on the standard output."""
    assert main(arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    (line,) = [line for line in err.splitlines() if line.startswith("dp-explorer: ")]
    assert "Traceback" not in err
    return line
