"""The exceptions of nrtpy."""

from __future__ import annotations


class NrtpyError(RuntimeError):
    """A call that nrtpy itself refuses: a freed tensor, say, or `configure()` at the wrong time."""


class NrtError(RuntimeError):
    """A call of libnrt that failed. The message begins with the name and number of its status."""

    def __init__(self, status: int, name: str, what: str) -> None:
        super().__init__(f"NRT Error {name}({status}): {what}")
        self.status = status
