"""Turns failures of the extension module `millrace._compiler` into exceptions of the package."""

from __future__ import annotations

from types import ModuleType
from typing import NoReturn

from ._errors import ERRORS, Internal


def native() -> ModuleType:
    """Returns the extension module, which is imported with the first call that needs it.

    Raises ImportError, with the reason, in an installation that has no compiler.
    """
    try:
        from . import _compiler
    except ImportError as error:
        raise ImportError(
            f"this installation of millrace cannot compile or measure models: {error}",
            name="millrace._compiler",
        ) from error
    return _compiler


def raise_failure(failure: Exception) -> NoReturn:
    """Raises the exception of the package for a `_compiler.Failure`."""
    code, message = failure.args
    raise ERRORS.get(code, Internal)(message) from None
