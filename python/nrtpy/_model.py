"""NrtpyModel: a model that is loaded on a core."""

from __future__ import annotations

import importlib
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from ctypes import byref, c_void_p
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Union

import numpy as np

from . import _benchmark
from ._benchmark import BenchmarkResult
from ._errors import NrtpyError
from ._library import FAILURE, INVALID, USAGE_INPUT, TensorSet, check, failure, nrt, tensor_infos
from ._runtime import Runtime, get_nrtpy_singleton
from ._tensor import NrtpyTensor, NrtTensor

Tensors = Mapping[str, NrtpyTensor]


@dataclass(frozen=True)
class TensorMetadata:
    """An input or output of a model: its shape, outermost dimension first, and size in bytes."""

    shape: tuple[int, ...]
    size: int


class NrtpyModel:
    """A model on one core. `load_from_neff()` makes it; a call executes it.

    `input_tensors_info` and `output_tensors_info` describe its tensors by name.
    """

    input_tensors_info: dict[str, TensorMetadata]
    output_tensors_info: dict[str, TensorMetadata]
    name: str

    def __init__(self, handle: c_void_p, runtime: Runtime, path: Path, name: str, core_id: int):
        self._model = handle
        self._runtime = runtime
        self._path = path
        self._core_id = core_id
        self._dtypes: dict[str, np.dtype[Any]] = {}
        self.name = name
        self.input_tensors_info = {}
        self.output_tensors_info = {}
        for tensor, usage, size, dtype, shape in tensor_infos(handle):
            is_input = usage == USAGE_INPUT
            infos = self.input_tensors_info if is_input else self.output_tensors_info
            infos[tensor] = TensorMetadata(shape, size)
            if not is_input:
                self._dtypes[tensor] = _numpy_type(dtype, shape, size)

    @classmethod
    def load_from_neff(
        cls,
        neff_path: Union[str, os.PathLike[str]],
        name: str | None = None,
        core_id: int = 0,
        cc_enabled: bool = False,
        rank_id: int = 0,
        world_size: int = 1,
    ) -> NrtpyModel:
        """Loads a model, an archive `.rai`, on a core.

        `name` is a label; without it, that is the name of the file without its extension. With
        `cc_enabled`, the model is loaded as rank `rank_id` of `world_size` ranks.

        NrtError: the file cannot be read (`NRT_FAILURE`), is damaged (`NRT_INVALID`) or of another
        kind (`NRT_UNSUPPORTED_NEFF_VERSION`), or the core is not visible
        (`NRT_LOAD_NOT_ENOUGH_NC`). The log of libnrt has the reason.
        """
        path = Path(neff_path)
        runtime = get_nrtpy_singleton()
        handle = c_void_p()
        what = f"Failed to load model {path}"
        content = _file_content(path, what)
        where = (content.ctypes.data, content.size, core_id, 1)
        if cc_enabled:
            status = nrt.nrt_load_collectives(*where, rank_id, world_size, byref(handle))
        else:
            status = nrt.nrt_load(*where, byref(handle))
        check(status, what)
        return cls(handle, runtime, path, path.stem if name is None else name, core_id)

    def __call__(
        self,
        inputs: Tensors,
        outputs: Tensors | None = None,
        save_trace: bool = False,
        ntff_name: Union[str, os.PathLike[str], None] = None,
    ) -> dict[str, NrtpyTensor] | None:
        """Executes the model and waits until the outputs are written.

        `inputs` and `outputs` have a tensor for each input and output by name. Without `outputs`,
        new tensors are returned; with them, None. With `save_trace` the execution is recorded in
        the file `ntff_name` or, without a name, beside the model with the suffix `.ntff`; it is for
        Perfetto and `chrome://tracing`.

        NrtError: names do not match those of the model, a tensor is too small (`NRT_INVALID`), or
        the execution failed. NrtpyError: a tensor was freed, or the runtime was reset.
        """
        made = self._allocate_outputs() if outputs is None else None
        self._check_names("input", inputs, self.input_tensors_info)
        if outputs is not None:
            self._check_names("output", outputs, self.output_tensors_info)
        trace = ntff_name if ntff_name is not None else self._path.with_suffix(".ntff")
        with self._recording(os.fsencode(trace)) if save_trace else nullcontext():
            with self._bound(inputs, made if outputs is None else outputs) as sets:
                self._execute(*sets)
        return made

    def benchmark(
        self,
        inputs: Tensors,
        outputs: Tensors | None = None,
        warmup_iter: int = 5,
        benchmark_iter: int = 5,
        mode: str = "device",
    ) -> BenchmarkResult:
        """Executes the model `warmup_iter` times, and then `benchmark_iter` times with the clock.

        Mode "device" times how long the core computes, by the system trace; "host" times the calls.

        ValueError: another mode, or fewer than one timed iteration. RuntimeError: the trace has no
        execution. NrtError: as for calls; `NRT_INVALID` if a system trace runs already.
        """
        if mode not in ("device", "host"):
            raise ValueError(f"mode must be 'device' or 'host', not {mode!r}")
        if benchmark_iter < 1:
            raise ValueError(f"benchmark_iter must be at least 1, not {benchmark_iter}")
        made = self._allocate_outputs() if outputs is None else outputs
        self._check_names("input", inputs, self.input_tensors_info)
        self._check_names("output", made, self.output_tensors_info)
        with self._bound(inputs, made) as sets:
            for _ in range(warmup_iter):
                self._execute(*sets)
            if mode == "host":
                times = _benchmark.time_on_host(lambda: self._execute(*sets), benchmark_iter)
            else:
                times = _benchmark.time_on_device(
                    lambda: self._execute(*sets), benchmark_iter, self._core_id
                )
        return _benchmark.result_of(times, warmup_iter)

    def _allocate_outputs(self) -> dict[str, NrtpyTensor]:
        self._handle()
        return {
            name: NrtpyTensor(
                NrtTensor(info.size, self._core_id, name), info.shape, self._dtypes[name], name
            )
            for name, info in self.output_tensors_info.items()
        }

    def _handle(self) -> c_void_p:
        if not self._runtime.is_open:
            raise NrtpyError("the model is invalid, since nrtpy.reset() closed its runtime")
        return self._model

    def _check_names(self, kind: str, given: Tensors, infos: dict[str, TensorMetadata]) -> None:
        if given.keys() != infos.keys():
            raise failure(
                INVALID,
                f"the {kind} tensors {sorted(given)} do not match those of the model,"
                f" {sorted(infos)}",
            )

    @contextmanager
    def _bound(self, inputs: Tensors, outputs: Tensors | None) -> Iterator[tuple[c_void_p, c_void_p]]:
        self._handle()
        with TensorSet() as input_set, TensorSet() as output_set:
            for tensors, bound in ((inputs, input_set), (outputs or {}, output_set)):
                for name, tensor in tensors.items():
                    bound.add(name, tensor._handle)
            yield input_set.handle, output_set.handle

    def _execute(self, input_set: c_void_p, output_set: c_void_p) -> None:
        status = nrt.nrt_execute(self._handle(), input_set, output_set)
        check(status, f"Failed to execute model {self.name}")

    @contextmanager
    def _recording(self, file: bytes) -> Iterator[None]:
        shown = os.fsdecode(file)
        check(nrt.nrt_profile_start(self._handle(), file), f"Failed to start a trace for {shown}")
        try:
            yield
        finally:
            status = nrt.nrt_profile_stop(file)
        check(status, f"Failed to write the trace {shown}")

    def __del__(self) -> None:
        if hasattr(self, "_runtime") and self._runtime.is_open:
            nrt.nrt_unload(self._model)

    def __repr__(self) -> str:
        return f"<NrtpyModel '{self.name}' on core {self._core_id}>"


def _file_content(path: Path, what: str) -> np.memmap[Any, Any]:
    """Maps a file, so that libnrt, which copies what it keeps, reads it without another copy."""
    try:
        return np.memmap(path, np.uint8, "r")
    except (OSError, ValueError) as error:
        raise failure(FAILURE, f"{what}: {error}") from error


_NUMPY_TYPES: dict[int, np.dtype[Any]] = {
    1: np.dtype(np.uint64),
    2: np.dtype(np.int8),
    3: np.dtype(np.uint8),
    4: np.dtype(np.int16),
    5: np.dtype(np.uint16),
    7: np.dtype(np.float16),
    8: np.dtype(np.int32),
    9: np.dtype(np.uint32),
    10: np.dtype(np.float32),
    11: np.dtype(np.float32),
    12: np.dtype(np.int64),
}
_ML_DTYPES = {6: "bfloat16", 13: "float8_e3m4", 14: "float8_e4m3", 15: "float8_e5m2"}


def _numpy_type(dtype: int, shape: tuple[int, ...], size: int) -> np.dtype[Any]:
    """Returns the type of an output.

    NumPy has no narrow floating point types but FLOAT16: they are those of the package `ml_dtypes`
    if that is installed, and otherwise bytes of the right size (`|V2`).
    """
    if dtype in _NUMPY_TYPES:
        return _NUMPY_TYPES[dtype]
    try:
        found = getattr(importlib.import_module("ml_dtypes"), _ML_DTYPES[dtype])
        return np.dtype(found)
    except (ImportError, AttributeError, KeyError):
        elements = int(np.prod(shape, dtype=np.int64))
        return np.dtype(f"V{size // elements if elements else 1}")
