"""load(): from a path, bytes or a model of ONNX to a Model on a device."""

from __future__ import annotations

import importlib
import os
from typing import Any, Union

from . import _core
from ._core import Device, Model

Source = Union[str, "os.PathLike[str]", bytes, bytearray, memoryview, Any]

# An archive in memory begins with these bytes (docs/rai-format.md).
_ARCHIVE_MAGIC = b"\x89RAI\r\n\x1a\n"


def load(
    source: Source,
    device: str | Device = "cpu",
    *,
    shape_profile: str | None = None,
    memory_limit: int = 0,
    lanes: int = 0,
) -> Model:
    """Loads a model on a device.

    source         the path of an archive (`.rai`) or of an ONNX model (`.onnx`), the bytes of either,
                   a millrace.Archive, or an onnx.ModelProto. ONNX models are compiled first, in FP32
                   (millrace.compile() has the options).
    device         "cpu", "null", "faulty-cpu", "faulty-null", the name of a plugin, or a Device
    shape_profile  the shape profile of the archive in which the model runs, as a static one
    memory_limit   the bytes that the model may need; 0: no limit but MILLRACE_MEMORY_LIMIT
    lanes          the threads that run jobs, if this call is the first that opens the device; 0:
                   MILLRACE_LANES or one for each core

    Raises NotFound, IoError, CorruptData, Unsupported (which names every operator that the device
    lacks), OutOfMemory or InvalidArgument. ImportError if an ONNX model is given and the compiler is
    not installed.
    """
    options = (device, shape_profile or "", memory_limit, lanes)
    if hasattr(source, "SerializeToString"):
        return load_compiled(source.SerializeToString(), *options)
    if isinstance(source, (str, os.PathLike)):
        path = os.fsdecode(source)
        if path.endswith(".onnx"):
            return load_compiled(path, *options)
        return _core.load(os.fsencode(path), *options)
    content = bytes(source)
    if not content.startswith(_ARCHIVE_MAGIC):
        return load_compiled(content, *options)
    return load_bytes(content, *options)


def load_compiled(source: str | bytes, *options: Any) -> Model:
    """Compiles an ONNX model in memory and loads the archive."""
    archive = importlib.import_module("millrace.compiler").compile(source)
    return _core.load(os.fsencode(archive), *options)


def load_bytes(content: bytes, *options: Any) -> Model:
    """Loads an archive from a file in memory, whose pages live as long as the model."""
    fd = os.memfd_create("millrace-archive", os.MFD_CLOEXEC)
    try:
        with os.fdopen(fd, "wb", closefd=False) as file:
            file.write(content)
        return _core.load(f"/proc/self/fd/{fd}", *options)
    finally:
        os.close(fd)
