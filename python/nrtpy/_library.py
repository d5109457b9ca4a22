"""The functions of `libnrt.so.1` that nrtpy calls, by ctypes, which releases the GIL meanwhile."""

from __future__ import annotations

import ctypes
import sysconfig
from ctypes import POINTER, byref, c_bool, c_char, c_char_p, c_int, c_int32, c_size_t, c_uint32
from ctypes import c_uint64, c_void_p
from pathlib import Path
from typing import Any

from ._errors import NrtError

SUCCESS = 0
FAILURE = 1
INVALID = 2
FRAMEWORK_NONE = 1
PLACEMENT_DEVICE = 0
USAGE_INPUT = 0
NAME_BYTES = 256


class TensorInfo(ctypes.Structure):
    """nrt_tensor_info_t."""

    _fields_ = [
        ("name", c_char * NAME_BYTES),
        ("usage", c_int),
        ("size", c_size_t),
        ("dtype", c_int),
        ("shape", POINTER(c_uint32)),
        ("ndim", c_uint32),
    ]


class TensorInfoArray(ctypes.Structure):
    """nrt_tensor_info_array_t without its array, which follows at the alignment of its members."""

    _fields_ = [("tensor_count", c_uint64)]


_STATUS_FUNCTIONS: dict[str, list[Any]] = {
    "nrt_init": [c_int, c_char_p, c_char_p],
    "nrt_load": [c_void_p, c_size_t, c_int32, c_int32, POINTER(c_void_p)],
    "nrt_load_collectives": [
        c_void_p, c_size_t, c_int32, c_int32, c_uint32, c_uint32, POINTER(c_void_p),
    ],
    "nrt_unload": [c_void_p],
    "nrt_get_model_tensor_info": [c_void_p, POINTER(POINTER(TensorInfoArray))],
    "nrt_free_model_tensor_info": [POINTER(TensorInfoArray)],
    "nrt_tensor_allocate": [c_int, c_int, c_size_t, c_char_p, POINTER(c_void_p)],
    "nrt_tensor_read": [c_void_p, c_void_p, c_size_t, c_size_t],
    "nrt_tensor_write": [c_void_p, c_void_p, c_size_t, c_size_t],
    "nrt_allocate_tensor_set": [POINTER(c_void_p)],
    "nrt_add_tensor_to_tensor_set": [c_void_p, c_char_p, c_void_p],
    "nrt_execute": [c_void_p, c_void_p, c_void_p],
    "nrt_profile_start": [c_void_p, c_char_p],
    "nrt_profile_stop": [c_char_p],
    "nrt_sys_trace_config_allocate": [POINTER(c_void_p)],
    "nrt_sys_trace_config_set_capture_enabled_for_event_type": [c_void_p, c_char_p, c_bool],
    "nrt_sys_trace_get_event_types": [POINTER(POINTER(c_char_p)), POINTER(c_size_t)],
    "nrt_sys_trace_start": [c_void_p],
    "nrt_sys_trace_stop": [],
    "nrt_sys_trace_fetch_events": [POINTER(c_void_p), POINTER(c_size_t), c_void_p],
}
_OTHER_FUNCTIONS: dict[str, list[Any]] = {
    "nrt_close": [],
    "nrt_tensor_free": [POINTER(c_void_p)],
    "nrt_destroy_tensor_set": [POINTER(c_void_p)],
    "nrt_sys_trace_config_free": [c_void_p],
    "nrt_sys_trace_config_set_max_events_per_nc": [c_void_p, c_uint64],
    "nrt_sys_trace_free_event_types": [POINTER(c_char_p), c_size_t],
    "nrt_sys_trace_buffer_free": [c_void_p],
}


def _open() -> ctypes.CDLL:
    """Opens the library: where the loader finds it, or where this installation or build has it."""
    name = "libnrt.so.1"
    packages = Path(__file__).resolve().parent.parent
    below = packages.parent
    folders = [packages / "millrace", below / "lib", below.parent]
    folders.append(below.parent / str(sysconfig.get_config_var("MULTIARCH")))
    try:
        return ctypes.CDLL(name)
    except OSError as error:
        for folder in folders:
            if (folder / name).exists():
                return ctypes.CDLL(str(folder / name))
        raise ImportError(str(error)) from error


def _declare(library: ctypes.CDLL) -> ctypes.CDLL:
    for name, arguments in _STATUS_FUNCTIONS.items():
        function = getattr(library, name)
        function.argtypes, function.restype = arguments, c_int
    for name, arguments in _OTHER_FUNCTIONS.items():
        function = getattr(library, name)
        function.argtypes, function.restype = arguments, None
    library.nrt_get_status_as_str.argtypes = [c_int]
    library.nrt_get_status_as_str.restype = c_char_p
    return library


nrt = _declare(_open())


def failure(status: int, what: str) -> NrtError:
    """Returns the exception for a status."""
    return NrtError(status, nrt.nrt_get_status_as_str(status).decode(), what)


def check(status: int, what: str) -> None:
    """Raises NrtError unless the status is success."""
    if status != SUCCESS:
        raise failure(status, what)


class TensorSet:
    """A set of tensors by name, for one execution; a context manager that frees it."""

    def __init__(self) -> None:
        self.handle = c_void_p()

    def __enter__(self) -> TensorSet:
        check(nrt.nrt_allocate_tensor_set(byref(self.handle)), "Failed to allocate a tensor set")
        return self

    def __exit__(self, *ignored: object) -> None:
        nrt.nrt_destroy_tensor_set(byref(self.handle))

    def add(self, name: str, tensor: c_void_p) -> None:
        status = nrt.nrt_add_tensor_to_tensor_set(self.handle, name.encode(), tensor)
        check(status, f"Failed to add tensor '{name}' to a tensor set")


def tensor_infos(model: c_void_p) -> list[tuple[str, int, int, int, tuple[int, ...]]]:
    """Returns name, usage, size in bytes, data type and shape of each tensor of a model."""
    found = POINTER(TensorInfoArray)()
    status = nrt.nrt_get_model_tensor_info(model, byref(found))
    check(status, "Failed to query the tensors of the model")
    try:
        count = found.contents.tensor_count
        address = ctypes.addressof(found.contents) + ctypes.sizeof(TensorInfoArray)
        infos = (TensorInfo * count).from_address(address)
        return [
            (
                info.name.decode(errors="backslashreplace"),
                info.usage,
                info.size,
                info.dtype,
                tuple(info.shape[i] for i in range(info.ndim)),
            )
            for info in infos
        ]
    finally:
        nrt.nrt_free_model_tensor_info(found)
