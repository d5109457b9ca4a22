"""Tables of plain text, for the results that are printed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def table(header: Sequence[str], rows: Iterable[Sequence[str]], texts: Iterable[int] = (0,)) -> str:
    """Returns lines of aligned columns, two spaces apart; those of the indices `texts` to the left."""
    lines = [header, *rows]
    widths = [max(map(len, column)) for column in zip(*lines)]
    left = set(texts)

    def aligned(line: Sequence[str]) -> str:
        cells = (
            cell.ljust(width) if index in left else cell.rjust(width)
            for index, (cell, width) in enumerate(zip(line, widths))
        )
        return "  ".join(cells).rstrip()

    return "\n".join(map(aligned, lines))


def number(value: float | None, form: str) -> str:
    """Returns a number in a format, and "-" for one that was not measured."""
    return "-" if value is None else format(value, form)
