"""Says for which Python this package was built, where that is not the one that imports it."""

from __future__ import annotations

import re
import sys
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

_NAME = re.compile(r"_core\.cpython-(\d)(\d+)\w*-(\w+)-.*\.so")


def reason(folder: Path = Path(__file__).resolve().parent) -> str:
    """Returns why the extension module cannot be imported; empty if it is one for this Python."""
    modules = [path.name for path in folder.glob("_core.*.so")]
    if any(name == "_core" + suffix for name in modules for suffix in EXTENSION_SUFFIXES):
        return ""
    if not modules:
        return (
            f"{folder} has no extension module: these are the sources of the package. Build it "
            "(docs/python.md), and put build/release/python into PYTHONPATH"
        )
    found = [_NAME.fullmatch(name) for name in modules]
    built_for = sorted({f"CPython {match[1]}.{match[2]} on {match[3]}" for match in found if match})
    this = f"CPython {sys.version_info.major}.{sys.version_info.minor}"
    return (
        f"this package of millrace was built for {' and '.join(built_for) or ', '.join(modules)}, "
        f"and this is {this} ({sys.executable}). Run the Python that it was built for, or build it "
        "for this one with -DPython_EXECUTABLE="
    )
