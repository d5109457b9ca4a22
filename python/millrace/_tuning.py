"""Measures the kernels of a model on this processor: millrace.tune()."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import _options
from ._data_files import DataFiles, Model, PathLike, is_path
from ._errors import Internal
from ._failures import native, raise_failure

_DESCRIPTOR = "/proc/self/fd/"


@dataclass(frozen=True)
class Tuning:
    """The result of `tune()`.

    `record` is the file with the times. The kernels of `convolutions` operators are chosen by them.
    `usual_ms` and `tuned_ms` are the median latencies of the model with the default kernels and with
    those of the record.
    """

    record: str
    convolutions: int
    usual_ms: float
    tuned_ms: float

    @property
    def speedup(self) -> float:
        """How many times as fast the model is with the record."""
        return self.usual_ms / self.tuned_ms


def tune(
    model: Model,
    record: PathLike | None = None,
    *,
    shapes: Mapping[str, Sequence[int]] | None = None,
    runs: int = 15,
) -> Tuning:
    """Measures the candidate kernels of a model on this processor, as `millrace tune` does.

    Their times are added to the file `record`, which may have those of other models; by default it
    lies beside the model and ends in `.tuning`. Models that are loaded while MILLRACE_TUNING names
    the file use the fastest kernels:

        tuning = millrace.tune("net.rai")
        if tuning.speedup > 1:
            os.environ["MILLRACE_TUNING"] = tuning.record
        model = millrace.load("net.rai")

    `shapes` are those of open inputs, `runs` is the number of measured jobs with and without the
    record. The work is done by another process of Python, so that a device which this process has
    open, and its environment variables, stay as they are.
    """
    native()  # says what an installation without the compiler lacks
    with DataFiles() as files:
        path = os.fsdecode(files.model(model))
        if record is None and (not is_path(model) or path.startswith(_DESCRIPTOR)):
            raise ValueError("record: a model in memory needs a file for the times of its kernels")
        if path.startswith(_DESCRIPTOR):  # of this process, not of the one that reads it
            path = f"/proc/{os.getpid()}/fd/{path.removeprefix(_DESCRIPTOR)}"
        options = {
            "model": path,
            "record": "" if record is None else os.path.abspath(os.fsdecode(record)),
            "shapes": _options.shape_list(shapes),
            "runs": _options.in_range("runs", runs, 1, 1_000_000),
        }
        made, code, message = _in_other_process(options)
    if code:
        raise_failure(native().Failure(code, message))
    return Tuning(*made)


def _in_other_process(options: dict[str, Any]) -> tuple[Any, str, str]:
    """Returns the members of a Tuning, or the code and the message of a failure."""
    package = str(Path(__file__).resolve().parents[1])
    # The modules of this process, and not those of the current folder, which -c would add.
    path = sys.path if package in sys.path else [*sys.path, package]
    program = (
        f"import sys; sys.path[:] = {path!r}; "
        "from millrace import _tuning; _tuning._answer()"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], input=json.dumps(options), capture_output=True, text=True
    )
    if done.returncode != 0:
        raise Internal(f"the process that measures kernels has failed: {done.stderr.strip()}")
    made, code, message = json.loads(done.stdout)
    return made, code, message


def _answer() -> None:
    """Does the work that standard input asks for, and prints its result. For _in_other_process()."""
    options = json.load(sys.stdin)
    options["model"] = os.fsencode(options["model"])
    options["record"] = os.fsencode(options["record"])
    compiler = native()
    try:
        record, *numbers = compiler.tune(options)
        print(json.dumps([[os.fsdecode(record), *numbers], "", ""]))
    except compiler.Failure as failure:
        print(json.dumps([None, *failure.args]))
