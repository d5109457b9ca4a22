"""The one runtime of the process: configure(), reset() and get_nrtpy_singleton()."""

from __future__ import annotations

import operator
import os
import threading
from collections.abc import Iterable
from typing import TYPE_CHECKING

from ._errors import NrtpyError
from ._library import FRAMEWORK_NONE, check, nrt

if TYPE_CHECKING:
    from ._tensor import NrtpyTensor

_VISIBLE_CORES = "NEURON_RT_VISIBLE_CORES"


class Runtime:
    """The runtime, from its start to `reset()`. Objects that belong to it are dead afterwards."""

    def __init__(self) -> None:
        check(nrt.nrt_init(FRAMEWORK_NONE, b"", b""), "Failed to initialize the runtime")
        self.is_open = True

    def close(self) -> None:
        self.is_open = False
        nrt.nrt_close()

    def free_tensor(self, tensor: NrtpyTensor) -> None:
        """Frees the device memory of a tensor now. Any later use of the tensor raises NrtpyError."""
        tensor._free()


_lock = threading.RLock()
_runtime: Runtime | None = None
# The value that the variable had before configure() set it; only while configure() has set it.
_before: list[str | None] = []


def get_nrtpy_singleton() -> Runtime:
    """Returns the runtime of the process, which it starts if there is none.

    Raises NrtError if it cannot be started, for example with `NRT_INVALID` for an environment
    variable that has an invalid value.
    """
    global _runtime
    with _lock:
        if _runtime is None:
            _runtime = Runtime()
        return _runtime


def configure(visible_cores: Iterable[int] | None = None) -> None:
    """Says which cores the runtime sees, before its first use or after `reset()`.

    `visible_cores` are numbers of cores, such as `[0, 1]` or `range(4)`, which become the
    environment variable `NEURON_RT_VISIBLE_CORES`; None leaves it as it is.

    Raises NrtpyError if the runtime is active, TypeError for an int or anything else that is no
    iterable of integers, and ValueError for a negative number.
    """
    with _lock:
        if _runtime is not None:
            raise NrtpyError("the runtime is active already: call nrtpy.reset() before configure()")
        if visible_cores is None:
            return
        if isinstance(visible_cores, (int, str)):
            raise TypeError("visible_cores must be an iterable of integers, such as [0, 1]")
        cores = [operator.index(core) for core in visible_cores]
        if any(core < 0 for core in cores):
            raise ValueError(f"visible_cores: no core has a negative number: {cores}")
        if not _before:
            _before.append(os.environ.get(_VISIBLE_CORES))
        os.environ[_VISIBLE_CORES] = ",".join(map(str, cores))


def reset() -> None:
    """Closes the runtime and undoes `configure()`; has no effect if the runtime is not active.

    All tensors and models become invalid: their methods raise NrtpyError.
    """
    global _runtime
    with _lock:
        if _runtime is None:
            return
        _runtime.close()
        _runtime = None
        if not _before:
            return
        value = _before.pop()
        if value is None:
            os.environ.pop(_VISIBLE_CORES, None)
        else:
            os.environ[_VISIBLE_CORES] = value
