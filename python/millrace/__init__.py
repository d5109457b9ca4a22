"""Millrace: inference with explicit asynchronous execution.

    import millrace
    model = millrace.load("model.rai")
    scores = model(x)                          # waits
    job = model.submit(x, deadline=0.05)       # does not wait
    scores = job.result()

docs/python.md leads through the package. Importing it loads neither the compiler nor the CPU device.
"""

from __future__ import annotations

import atexit as _atexit
import importlib as _importlib
from typing import TYPE_CHECKING as _TYPE_CHECKING
from typing import Any as _Any

try:
    from . import _core
except ImportError as _missing:
    from ._wrong_python import reason as _reason

    if _text := _reason():
        raise ImportError(_text, name="millrace._core") from _missing
    raise

_core.require_main_interpreter()

from . import _completion, _errors, _map  # noqa: E402
from ._core import Buffer, Device, Job, Model, TensorInfo, Unit, ViewInfo  # noqa: E402
from ._errors import (  # noqa: E402
    Busy,
    Cancelled,
    Closed,
    CorruptData,
    DeadlineExceeded,
    DeviceFailed,
    Dropped,
    Error,
    Forked,
    Hung,
    Internal,
    InvalidArgument,
    InvalidJobId,
    IoError,
    NoLane,
    NotFound,
    OutOfMemory,
    Pending,
    QueueFull,
    ResourceExhausted,
    UnitDegraded,
    Unsupported,
)
from ._loading import load  # noqa: E402
from ._waiting import as_completed, wait_all, wait_any  # noqa: E402

if _TYPE_CHECKING:
    from .compiler import Archive as Archive
    from .compiler import compare as compare
    from .compiler import compile as compile
    from .compiler import evaluate as evaluate
    from .compiler import inspect as inspect
    from .compiler import profile as profile
    from .compiler import quantise as quantise
    from .compiler import read_inputs as read_inputs
    from .compiler import tune as tune

__version__: str = _core.version

__all__ = [
    "Buffer",
    "Busy",
    "Cancelled",
    "Closed",
    "CorruptData",
    "DeadlineExceeded",
    "Device",
    "DeviceFailed",
    "Dropped",
    "Error",
    "Forked",
    "Hung",
    "Internal",
    "InvalidArgument",
    "InvalidJobId",
    "IoError",
    "Job",
    "Model",
    "NoLane",
    "NotFound",
    "OutOfMemory",
    "Pending",
    "QueueFull",
    "ResourceExhausted",
    "TensorInfo",
    "Unit",
    "UnitDegraded",
    "Unsupported",
    "ViewInfo",
    "as_completed",
    "load",
    "wait_all",
    "wait_any",
]

_core.set_error_classes(_errors.ERRORS)
# No job may access memory of Python while the interpreter ends.
_atexit.register(_core.close_all_units)

# These methods are written in Python; _core.pyi declares them with the others.
for _class, _name, _function in (
    (Model, "map", _map.map_inputs),
    (Model, "amap", _map.map_asynchronously),
    (Job, "add_done_callback", _completion.add_done_callback),
    (Job, "__await__", _completion.await_job),
):
    setattr(_class, _name, _function)

# Users know the classes by the name of the package.
for _public in (Buffer, Device, Job, Model, TensorInfo, Unit, ViewInfo, Error):
    _public.__module__ = __name__
for _error in _errors.ERRORS.values():
    _error.__module__ = __name__


# The compiler's module loads protobuf, which programs that only run models do not need.
_FROM_COMPILER = (
    "Archive",
    "compare",
    "compile",
    "evaluate",
    "inspect",
    "profile",
    "quantise",
    "read_inputs",
    "tune",
)


def __getattr__(name: str) -> _Any:
    if name not in _FROM_COMPILER:
        raise AttributeError(f"module 'millrace' has no attribute '{name}'")
    return getattr(_importlib.import_module("millrace.compiler"), name)


def __dir__() -> list[str]:
    return sorted([*__all__, *_FROM_COMPILER, "__version__"])
