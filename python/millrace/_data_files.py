"""Gives arrays and models in memory to functions that read files."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, TypeGuard, Union

import numpy as np
import numpy.typing as npt

PathLike = Union[str, "os.PathLike[str]"]
Bytes = Union[bytes, bytearray, memoryview]
Model = Union[PathLike, Bytes]
# One frame, or a stack of frames; a path; an iterable of arrays or of paths.
InputData = Union[PathLike, npt.ArrayLike, Iterable[Any]]
Data = Union[InputData, Mapping[str, InputData], Iterable[Mapping[str, npt.ArrayLike]]]

_ARCHIVE_MAGIC = b"\x89RAI\r\n\x1a\n"


def is_path(value: object) -> TypeGuard[PathLike]:
    return isinstance(value, (str, os.PathLike))


def is_bytes(value: object) -> TypeGuard[Bytes]:
    return isinstance(value, (bytes, bytearray, memoryview))


class DataFiles:
    """Files for one call: paths as they are given, and arrays as .npy files in a temporary folder.

    To be used as a context manager, which removes the folder at its end.
    """

    def __init__(self) -> None:
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._count = 0

    def __enter__(self) -> DataFiles:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._folder is not None:
            self._folder.cleanup()

    def model(self, model: Model) -> bytes:
        """Returns the path of a model; one that is given as bytes is written to a file first."""
        if is_path(model):
            return os.fsencode(model)
        try:
            content = memoryview(model)  # type: ignore[arg-type]
        except TypeError:
            raise TypeError(
                "a model is given by its path, as bytes, or as what compile() returned, not as "
                f"{type(model).__name__}"
            ) from None
        is_archive = bytes(content[: len(_ARCHIVE_MAGIC)]) == _ARCHIVE_MAGIC
        path = self._new("model.rai" if is_archive else "model.onnx")
        path.write_bytes(content)
        return os.fsencode(path)

    def array(self, value: PathLike | npt.ArrayLike) -> bytes:
        """Returns the path of a file, or of a new .npy file with the array."""
        if is_path(value):
            return os.fsencode(value)
        path = self._new("array.npy")
        np.save(path, np.ascontiguousarray(value), allow_pickle=False)
        return os.fsencode(path)

    def sources(self, data: Data | None) -> list[bytes]:
        """Returns data in the form of the option --calibrate: SOURCE, or NAME=SOURCE."""
        if data is None:
            return []
        if isinstance(data, Mapping):
            return [
                name.encode() + b"=" + source
                for name, value in data.items()
                for source in self._sources_of_input(value)
            ]
        return self._sources_of_input(data)

    def inputs(self, data: Any) -> list[bytes]:
        """Returns data in the form of the option --input: FILE, or NAME=FILE."""
        if isinstance(data, Mapping):
            return [name.encode() + b"=" + self.array(value) for name, value in data.items()]
        return [self.array(data)]

    def folder_of(self, values: PathLike | Mapping[str, npt.ArrayLike]) -> bytes:
        """Returns the path of a folder, or of a new one with an array NAME.npy for each name."""
        if not isinstance(values, Mapping):
            return os.fsencode(values)
        folder = self._new("values")
        folder.mkdir()
        for name, value in values.items():
            np.save(folder / (name.replace("/", "-") + ".npy"), np.ascontiguousarray(value))
        return os.fsencode(folder)

    def _new(self, name: str) -> Path:
        if self._folder is None:
            self._folder = tempfile.TemporaryDirectory(prefix="millrace-")
        folder = Path(self._folder.name) / str(self._count)
        folder.mkdir()
        self._count += 1
        return folder / name

    def _sources_of_input(self, value: Any) -> list[bytes]:
        if is_path(value) or isinstance(value, np.ndarray):
            return [self.array(value)]
        return self._sources_of_items(value)

    def _sources_of_items(self, items: Iterable[Any]) -> list[bytes]:
        """Returns the sources of an iterable of paths, of arrays, or of dicts of arrays.

        Arrays go into a folder for each input, one file for each, so that an iterable may yield more
        of them than memory holds.
        """
        paths: list[bytes] = []
        folders: dict[str, Path] = {}
        for index, item in enumerate(items):
            if is_path(item):
                paths.append(os.fsencode(item))
                continue
            named = item if isinstance(item, Mapping) else {"": item}
            for name, value in named.items():
                if name not in folders:
                    folders[name] = self._new("samples")
                    folders[name].mkdir()
                np.save(folders[name] / f"{index:08}.npy", np.ascontiguousarray(value))
        if paths and folders:
            raise TypeError("data: either paths or arrays, not both")
        return paths + [
            (name.encode() + b"=" if name else b"") + os.fsencode(folder)
            for name, folder in folders.items()
        ]
