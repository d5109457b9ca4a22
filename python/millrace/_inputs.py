"""Reads pictures and arrays as inputs of a model: millrace.read_inputs()."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _options
from ._data_files import Data, DataFiles, Model
from ._failures import native, raise_failure

# The types whose name is not that of NumPy's dtype.
_DTYPES = {"BOOLEAN": "bool", "BF16": "uint16", "FP16": "float16"}


def read_inputs(
    model: Model,
    data: Data,
    *,
    mean: float | Iterable[float] = (),
    scale: float | Iterable[float] = (),
    std: float | Iterable[float] = (),
    normalize: str | None = None,
    order: str = "rgb",
    resize: str = "stretch",
    short_side: int = 0,
    shapes: Mapping[str, Sequence[int]] | None = None,
) -> dict[str, npt.NDArray[Any]]:
    """Reads inputs of a model and preprocesses pictures, as `millrace run --input` does.

    Returns an array for each input, by name, in the input's dtype and in the shape [N, ...]: N frames,
    one after the other along the first dimension. Model.run() takes as many of them as the model's
    `batch_size`.

        inputs = millrace.read_inputs("net.rai", "photo.jpg", normalize="imagenet", resize="crop")
        scores = millrace.load("net.rai").run(inputs)

    `data` is what compile() takes as `calibrate`: files and folders of pictures (JPEG, PNG, WebP, BMP,
    PNM), `.npy` and `.bin` files, UINT8 arrays [N,H,W] and [N,H,W,C] of pictures, arrays in the input's
    shape, or a dict of these by input. A picture is resized to the input's height and width. `mean` to
    `short_side` say how (compile()); the model does not state that, and without them the network gets
    pixels of 0 to 255. `shapes` are those of open inputs.

    Raises NotFound, IoError, CorruptData, InvalidArgument.
    """
    compiler = native()
    with DataFiles() as files:
        options: dict[str, Any] = {
            "model": files.model(model),
            "inputs": files.sources(data),
            "shapes": _options.shape_list(shapes),
            **_options.picture_options(mean, scale, std, normalize, order, resize, short_side),
        }
        try:
            found = compiler.inputs(options)
        except compiler.Failure as failure:
            raise_failure(failure)
    return {name: _array(*described) for name, *described in found}


def _array(type_name: str, shape: Sequence[int], content: bytearray) -> npt.NDArray[Any]:
    """Returns the frames as an array over the bytes."""
    dtype = np.dtype(_DTYPES.get(type_name, type_name.lower()))
    elements = np.frombuffer(content, dtype)
    if not shape:
        return elements
    if elements.size == 0:
        return elements.reshape(tuple(shape))
    return elements.reshape((-1, *shape[1:]))
