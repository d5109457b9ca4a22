"""InferenceSession and its relatives, shaped as those of onnxruntime's Python package.

    import millrace.ort as ort
    session = ort.InferenceSession("model.onnx")
    scores, = session.run(None, {"image": x})

A program that uses onnxruntime's CPU provider needs another import only. Models of ONNX are compiled
when the session is made; an archive (`.rai`) is loaded at once. docs/python.md lists what differs.
"""

from __future__ import annotations

import enum
import os
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Union

import numpy as np
import numpy.typing as npt

from . import _core
from ._errors import Cancelled, InvalidArgument, Unsupported
from ._loading import load

Array = npt.NDArray[Any]

_DEVICE_PROVIDER = "MillraceExecutionProvider"
_CPU_PROVIDER = "CPUExecutionProvider"

_ELEMENT_NAMES = {
    "BOOLEAN": "bool",
    "INT8": "int8",
    "UINT8": "uint8",
    "INT16": "int16",
    "UINT16": "uint16",
    "BF16": "bfloat16",
    "FP16": "float16",
    "INT32": "int32",
    "UINT32": "uint32",
    "FLOAT32": "float",
    "INT64": "int64",
    "UINT64": "uint64",
    "FLOAT64": "double",
}


class GraphOptimizationLevel(enum.IntEnum):
    """The levels of onnxruntime. The compiler always optimises the whole model."""

    ORT_DISABLE_ALL = 0
    ORT_ENABLE_BASIC = 1
    ORT_ENABLE_EXTENDED = 2
    ORT_ENABLE_ALL = 99


class ExecutionMode(enum.IntEnum):
    """The modes of onnxruntime, which have no effect."""

    ORT_SEQUENTIAL = 0
    ORT_PARALLEL = 1


def get_available_providers() -> list[str]:
    """Returns the names of the providers that a session accepts; both mean Millrace."""
    return [_DEVICE_PROVIDER, _CPU_PROVIDER]


def get_all_providers() -> list[str]:
    """Returns the same as get_available_providers()."""
    return get_available_providers()


def set_default_logger_severity(severity: int) -> None:
    """Has no effect: MILLRACE_LOG chooses what is logged."""


def get_device() -> str:
    """Returns "CPU": the software NPU computes on the processor."""
    return "CPU"


class SessionOptions:
    """Options of a session.

    `intra_op_num_threads` is the number of lanes, if this session is the first that opens the device;
    0 means one for each core. `device`, `memory_limit` and `shape_profile` are Millrace's own: see
    millrace.load(). All other attributes of onnxruntime may be set and have no effect.
    """

    def __init__(self) -> None:
        self.intra_op_num_threads = 0
        self.inter_op_num_threads = 0
        self.graph_optimization_level = GraphOptimizationLevel.ORT_ENABLE_ALL
        self.execution_mode = ExecutionMode.ORT_SEQUENTIAL
        self.log_severity_level = 2
        self.log_verbosity_level = 0
        self.logid = ""
        self.enable_profiling = False
        self.enable_mem_pattern = True
        self.enable_mem_reuse = True
        self.enable_cpu_mem_arena = True
        self.optimized_model_filepath = ""
        self.device = "cpu"
        self.memory_limit = 0
        self.shape_profile: str | None = None
        self.config_entries: dict[str, str] = {}

    def add_session_config_entry(self, key: str, value: str) -> None:
        """Records an entry, which has no effect."""
        self.config_entries[key] = value

    def get_session_config_entry(self, key: str) -> str:
        """Returns a recorded entry; InvalidArgument if there is none."""
        if key not in self.config_entries:
            raise InvalidArgument(f"there is no session configuration {key!r}")
        return self.config_entries[key]


class RunOptions:
    """Options of runs, which any number of them may share.

    `deadline` is the time in seconds after which a run fails; None means never. Setting `terminate`
    cancels all runs with these options that have not ended, from any thread, and lets further ones
    fail at once with `millrace.Cancelled` until it is reset. A run that computes already stops at its
    next operator.
    """

    def __init__(self) -> None:
        self.deadline: float | None = None
        self.logid = ""
        self._lock = threading.Lock()
        self._terminate = False
        self._jobs: dict[_core.Job, None] = {}  # in the order of submission

    @property
    def terminate(self) -> bool:
        return self._terminate

    @terminate.setter
    def terminate(self, value: bool) -> None:
        with self._lock:
            self._terminate = bool(value)
            running = list(self._jobs) if self._terminate else []
        for job in reversed(running):  # so that none starts where an earlier one has ended
            job.cancel()

    def _submit(self, submit: Callable[[], _core.Job]) -> _core.Job:
        """Submits a run, which `terminate` cancels until _forget() is called."""
        if self._terminate:
            raise Cancelled("terminated: RunOptions.terminate is set")
        job = submit()
        with self._lock:
            self._jobs[job] = None
            terminated = self._terminate
        if terminated:
            job.cancel()
        return job

    def _forget(self, job: _core.Job) -> None:
        with self._lock:
            self._jobs.pop(job, None)


class NodeArg:
    """An input or output of a model: its name, its type such as "tensor(float)", and its shape.

    Open dimensions are None in `shape`.
    """

    def __init__(self, tensor: _core.TensorInfo) -> None:
        self.name: str = tensor.name
        self.type: str = f"tensor({_ELEMENT_NAMES.get(tensor.cpu.data_type, 'undefined')})"
        self.shape: list[int | None] = list(tensor.shape or ())

    def __repr__(self) -> str:
        return f"NodeArg(name='{self.name}', type='{self.type}', shape={self.shape})"


class ModelMetadata:
    """What the archive keeps of the model's metadata: its name."""

    def __init__(self, graph_name: str) -> None:
        self.graph_name = graph_name
        self.graph_description = ""
        self.description = ""
        self.domain = ""
        self.producer_name = "millrace"
        self.version = 0
        self.custom_metadata_map: dict[str, str] = {}


class OrtValue:
    """A tensor in memory of the host."""

    def __init__(self, array: Array) -> None:
        self._array = array

    @staticmethod
    def ortvalue_from_numpy(
        numpy_obj: Array, device_type: str = "cpu", device_id: int = 0
    ) -> OrtValue:
        """Refers to the array, without a copy. Unsupported for another device than "cpu"."""
        _require_cpu(device_type)
        return OrtValue(numpy_obj)

    @staticmethod
    def ortvalue_from_shape_and_type(
        shape: Sequence[int],
        element_type: npt.DTypeLike,
        device_type: str = "cpu",
        device_id: int = 0,
    ) -> OrtValue:
        """Allocates a tensor whose elements are undefined."""
        _require_cpu(device_type)
        return OrtValue(np.empty(tuple(shape), element_type))

    def numpy(self) -> Array:
        """Returns the memory as an array, without a copy."""
        return self._array

    def shape(self) -> list[int]:
        return list(self._array.shape)

    def data_type(self) -> str:
        """Returns the type, such as "tensor(float)"."""
        names = {np.dtype(np.float32): "float", np.dtype(np.float64): "double"}
        return f"tensor({names.get(self._array.dtype, self._array.dtype.name)})"

    def device_name(self) -> str:
        return "cpu"

    def data_ptr(self) -> int:
        return int(self._array.ctypes.data)

    def is_tensor(self) -> bool:
        return True

    def has_value(self) -> bool:
        return True

    def update_inplace(self, np_arr: Array) -> None:
        """Copies the elements of an array of the same shape to the tensor."""
        np.copyto(self._array, np_arr)

    def __dlpack__(self, **options: Any) -> Any:
        return self._array.__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)


Value = Union[Array, OrtValue, Any]


def _require_cpu(device_type: str) -> None:
    if device_type.lower() != "cpu":
        raise Unsupported(f"memory is that of the host: the device is {device_type!r}, not 'cpu'")


def _array_of(value: Value) -> Any:
    return value.numpy() if isinstance(value, OrtValue) else value


class IOBinding:
    """The arrays that the inputs and outputs of runs are bound to, without copies.

    An output that is bound without memory is allocated by each run. Outputs are in the order in which
    they were bound.
    """

    def __init__(self, session: InferenceSession) -> None:
        self._session = session
        self._inputs: dict[str, Any] = {}
        self._outputs: dict[str, Any] = {}
        self._results: dict[str, Any] = {}

    def bind_cpu_input(self, name: str, arr_on_cpu: Array) -> None:
        """Binds an input to an array."""
        self._inputs[name] = arr_on_cpu

    def bind_ortvalue_input(self, name: str, ortvalue: OrtValue) -> None:
        """Binds an input to the memory of an OrtValue."""
        self._inputs[name] = ortvalue.numpy()

    def bind_input(
        self,
        name: str,
        device_type: str,
        device_id: int,
        element_type: npt.DTypeLike,
        shape: Sequence[int],
        buffer_ptr: int,
    ) -> None:
        """Binds an input to memory at an address, which must stay valid until the binding is cleared."""
        _require_cpu(device_type)
        self._inputs[name] = _array_at(buffer_ptr, element_type, shape)

    def bind_output(
        self,
        name: str,
        device_type: str = "cpu",
        device_id: int = 0,
        element_type: npt.DTypeLike = None,
        shape: Sequence[int] | None = None,
        buffer_ptr: int | None = None,
    ) -> None:
        """Binds an output to memory at an address or, without one, to memory that runs allocate."""
        _require_cpu(device_type)
        if buffer_ptr is None:
            self._outputs[name] = None
            return
        if element_type is None or shape is None:
            raise InvalidArgument(f"output {name!r} is bound to an address without type and shape")
        self._outputs[name] = _array_at(buffer_ptr, element_type, shape)

    def bind_ortvalue_output(self, name: str, ortvalue: OrtValue) -> None:
        """Binds an output to the memory of an OrtValue."""
        self._outputs[name] = ortvalue.numpy()

    def clear_binding_inputs(self) -> None:
        self._inputs.clear()

    def clear_binding_outputs(self) -> None:
        self._outputs.clear()
        self._results.clear()

    def synchronize_inputs(self) -> None:
        """Does nothing: a run sees what was written to the inputs before."""

    def synchronize_outputs(self) -> None:
        """Does nothing: outputs are complete when a run returns."""

    def get_outputs(self) -> list[OrtValue]:
        """Returns the outputs of the last run, in the order in which they were bound."""
        return [OrtValue(self._results[name]) for name in self._outputs]

    def copy_outputs_to_cpu(self) -> list[Array]:
        """Returns copies of the outputs of the last run."""
        return [np.array(self._results[name]) for name in self._outputs]

    def run(self, options: RunOptions | None) -> None:
        """Runs the session on what is bound; InferenceSession.run_with_iobinding() calls this."""
        self._results = self._session.run_bound(self._inputs, dict(self._outputs), options)


def _array_at(address: int, element_type: npt.DTypeLike, shape: Sequence[int]) -> Array:
    dtype = np.dtype(element_type)
    interface = {"data": (address, False), "typestr": dtype.str, "shape": tuple(shape), "version": 3}
    holder = type("_Memory", (), {"__array_interface__": interface})()
    return np.asarray(holder)


class InferenceSession:
    """A loaded model. Any thread may use it; runs of several threads run at the same time.

    `path_or_bytes` is what millrace.load() takes. `providers` may name Millrace's provider or the
    CPU's, or none; the others that a program lists are ignored, as onnxruntime ignores what it has
    not, if one of these two is among them.
    """

    def __init__(
        self,
        path_or_bytes: str | os.PathLike[str] | bytes,
        sess_options: SessionOptions | None = None,
        providers: Sequence[str | tuple[str, Mapping[str, Any]]] | None = None,
        provider_options: Sequence[Mapping[str, Any]] | None = None,
        **other: Any,
    ) -> None:
        _require_known(providers)
        self._options = sess_options or SessionOptions()
        self._model = load(
            path_or_bytes,
            self._options.device,
            shape_profile=self._options.shape_profile,
            memory_limit=self._options.memory_limit,
            lanes=self._options.intra_op_num_threads,
        )
        self._outputs = [tensor.name for tensor in self._model.outputs]

    @property
    def model(self) -> _core.Model:
        """The millrace.Model: submit(), deadlines, units."""
        return self._model

    def run(
        self,
        output_names: Sequence[str] | None,
        input_feed: Mapping[str, Value],
        run_options: RunOptions | None = None,
    ) -> list[Array]:
        """Runs the model and returns the outputs of these names, or all in the model's order."""
        names = list(output_names) if output_names else self._outputs
        feeds = {name: _array_of(value) for name, value in input_feed.items()}
        results = self._run(feeds, names, run_options)
        return [results[name] for name in names]

    def _run(self, inputs: Mapping[str, Any], outputs: Any, options: RunOptions | None) -> Any:
        """Runs the model, as a job if options may terminate it."""
        if options is None:
            return self._model.run(inputs, outputs)
        deadline = options.deadline
        job = options._submit(lambda: self._model.submit(inputs, outputs, deadline=deadline))
        try:
            return job.result()
        except BaseException:
            job.cancel()  # an interrupted call leaves no job that writes into outputs
            raise
        finally:
            options._forget(job)

    def run_async(
        self,
        output_names: Sequence[str] | None,
        input_feed: Mapping[str, Value],
        callback: Callable[[list[Array], Any, str], object],
        user_data: Any,
        run_options: RunOptions | None = None,
    ) -> None:
        """Submits a run. `callback(outputs, user_data, error)` is called on the thread for callbacks.

        `error` is "" if the run succeeded; otherwise `outputs` is an empty list. See
        millrace.Job.add_done_callback().
        """
        names = list(output_names) if output_names else self._outputs
        feeds = {name: _array_of(value) for name, value in input_feed.items()}
        options = run_options or RunOptions()
        job = options._submit(lambda: self._model.submit(feeds, names, deadline=options.deadline))

        def ended(_: _core.Job) -> None:
            options._forget(job)
            error = job.exception()
            results = {} if error else job.result()
            callback([] if error else [results[name] for name in names], user_data, str(error or ""))

        job.add_done_callback(ended)

    def run_with_ort_values(
        self,
        output_names: Sequence[str] | None,
        input_dict_ort_values: Mapping[str, OrtValue],
        run_options: RunOptions | None = None,
    ) -> list[OrtValue]:
        """Like run(), with an OrtValue for each tensor."""
        return [OrtValue(array) for array in self.run(output_names, input_dict_ort_values, run_options)]

    def io_binding(self) -> IOBinding:
        """Returns a new, empty binding for run_with_iobinding()."""
        return IOBinding(self)

    def run_with_iobinding(self, iobinding: IOBinding, run_options: RunOptions | None = None) -> None:
        """Runs the model on the arrays that are bound."""
        iobinding.run(run_options)

    def run_bound(
        self, inputs: Mapping[str, Any], outputs: dict[str, Any], run_options: RunOptions | None
    ) -> dict[str, Array]:
        """Runs the model on arrays by name; outputs that are None are allocated."""
        results: dict[str, Array] = self._run(inputs, outputs, run_options)
        return results

    def get_inputs(self) -> list[NodeArg]:
        return [NodeArg(tensor) for tensor in self._model.inputs]

    def get_outputs(self) -> list[NodeArg]:
        return [NodeArg(tensor) for tensor in self._model.outputs]

    def get_overridable_initializers(self) -> list[NodeArg]:
        """Returns an empty list: an archive holds its weights."""
        return []

    def get_providers(self) -> list[str]:
        return get_available_providers()

    def get_provider_options(self) -> dict[str, dict[str, str]]:
        return {name: {} for name in get_available_providers()}

    def set_providers(
        self, providers: Sequence[str] | None = None, provider_options: Any = None
    ) -> None:
        """Checks the names, and changes nothing."""
        _require_known(providers)

    def get_session_options(self) -> SessionOptions:
        return self._options

    def get_modelmeta(self) -> ModelMetadata:
        return ModelMetadata(self._model.name)


def _require_known(providers: Sequence[str | tuple[str, Mapping[str, Any]]] | None) -> None:
    names = [entry if isinstance(entry, str) else entry[0] for entry in providers or ()]
    if names and not set(names) & set(get_available_providers()):
        raise InvalidArgument(f"providers are {names}; Millrace has {get_available_providers()}")
