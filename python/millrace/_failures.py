"""Turns failures of the extension module `millrace._compiler` into exceptions of the package."""

from __future__ import annotations

import re
from types import ModuleType
from typing import NoReturn

from ._errors import ERRORS, Internal

# Arguments whose name is not that of the program's option without its dashes.
_ARGUMENTS = {
    "cpu-ops": "cpu_operators",
    "hw-layout": "hw_layouts",
    "input": "data",
    "input-shape": "shapes",
    "no-bias-correction": "correct_bias=False",
    "no-equalisation": "equalise=False",
    "profile": "profiles",
    "shape": "shapes",
}
_SHAPE = r"--(?:input-)?shape (\S+)=([\d?]+(?:,[\d?]+)*)"
_SHAPES = re.compile(rf"(?<![\w-]){_SHAPE}(?: {_SHAPE})*")
_VALUE = "fp32|bf16|fp16|int8|auto|imagenet|unit|none|stretch|crop|letterbox"
_CHOICE = re.compile(rf"(?<![\w-])--(precision|normalize|resize) ({_VALUE})\b")
_OPTION = re.compile(r"(?<![\w-])--([a-z][a-z-]*[a-z])")


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
    raise ERRORS.get(code, Internal)(in_words_of_python(message)) from None


def in_words_of_python(message: str) -> str:
    """Returns a message of the program with arguments in the place of its options.

    "--input-shape x=1,4" becomes 'shapes={"x": (1, 4)}', and "--calibrate" "calibrate".
    """
    message = _SHAPES.sub(_shapes, message)
    message = _CHOICE.sub(r'\1="\2"', message)
    return _OPTION.sub(_argument, message)


def _shapes(options: re.Match[str]) -> str:
    named = ", ".join(
        f'"{name}": ({dims.replace(",", ", ").replace("?", "None")}{"" if "," in dims else ","})'
        for name, dims in re.findall(_SHAPE, options.group())
    )
    return f"shapes={{{named}}}"


def _argument(option: re.Match[str]) -> str:
    return _ARGUMENTS.get(option[1], option[1].replace("-", "_"))
