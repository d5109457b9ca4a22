"""NrtpyTensor: a tensor in device memory."""

from __future__ import annotations

from ctypes import byref, c_void_p
from typing import Any, Union

import numpy as np
import numpy.typing as npt

from ._errors import NrtpyError
from ._library import PLACEMENT_DEVICE, check, nrt
from ._runtime import Runtime, get_nrtpy_singleton


class NrtTensor:
    """Device memory of `size` bytes, zeros at first, that belongs to one core.

    It is freed with the object. NrtError: `NRT_RESOURCE` if there is no memory, `NRT_INVALID` for a
    size of 0 or a core that is not visible.
    """

    def __init__(self, size: int, core_id: int = 0, name: str = "") -> None:
        self._handle = c_void_p()
        self._runtime: Runtime = get_nrtpy_singleton()
        self.size = size
        status = nrt.nrt_tensor_allocate(
            PLACEMENT_DEVICE, core_id, size, name.encode(), byref(self._handle)
        )
        check(status, f"Failed to allocate a tensor of {size} bytes on core {core_id}")

    @property
    def handle(self) -> c_void_p:
        """The handle for libnrt. NrtpyError if the tensor was freed, or its runtime was reset."""
        if not self._runtime.is_open:
            raise NrtpyError("the tensor is invalid, since nrtpy.reset() closed its runtime")
        if not self._handle:
            raise NrtpyError("the tensor has been freed")
        return self._handle

    def free(self) -> None:
        if self._handle and self._runtime.is_open:
            nrt.nrt_tensor_free(byref(self._handle))
        self._handle = c_void_p()

    def __del__(self) -> None:
        if hasattr(self, "_runtime"):
            self.free()


class NrtpyTensor:
    """A tensor in device memory, of any type that NumPy has.

    `shape` is a tuple, or an int for a tensor of one dimension, and `dtype` a NumPy type. The memory
    is freed with the last reference to the tensor, or by `get_nrtpy_singleton().free_tensor()`.
    """

    def __init__(
        self,
        tensor_ref: NrtTensor,
        shape: Union[tuple[int, ...], int],
        dtype: npt.DTypeLike,
        name: str | None = None,
    ) -> None:
        self._reference = tensor_ref
        self.shape = (shape,) if isinstance(shape, int) else tuple(shape)
        self.dtype = np.dtype(dtype)
        self.name = name or ""

    @classmethod
    def from_numpy(
        cls, array: npt.NDArray[Any], name: str | None = None, core_id: int = 0
    ) -> NrtpyTensor:
        """Allocates a tensor on a core and copies an array, which need not be contiguous, into it.

        NrtError: there is no memory, or the array is empty, or the core is not visible.
        """
        array = np.asarray(array)
        tensor = cls(NrtTensor(array.nbytes, core_id, name or ""), array.shape, array.dtype, name)
        tensor.write_from_numpy(array)
        return tensor

    def write_from_numpy(self, array: npt.NDArray[Any]) -> None:
        """Copies an array, which need not be contiguous, into the tensor.

        ValueError: the array has another number of bytes than the tensor.
        """
        source = np.ascontiguousarray(array)
        if source.nbytes != self._reference.size:
            raise ValueError(
                f"the array has {source.nbytes} bytes, but the tensor {self._reference.size}"
            )
        status = nrt.nrt_tensor_write(self._handle, source.ctypes.data, 0, source.nbytes)
        check(status, "Failed to write a tensor")

    def numpy(self) -> npt.NDArray[Any]:
        """Returns a new array with a copy of the elements."""
        array = np.empty(self.shape, self.dtype)
        check(nrt.nrt_tensor_read(self._handle, array.ctypes.data, 0, array.nbytes),
              "Failed to read a tensor")
        return array

    @property
    def _handle(self) -> c_void_p:
        return self._reference.handle

    def _free(self) -> None:
        self._reference.free()

    def __repr__(self) -> str:
        return f"<NrtpyTensor '{self.name}' {self.dtype} {self.shape}>"
