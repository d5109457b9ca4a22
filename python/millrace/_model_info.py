"""Describes models: millrace.inspect()."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ._data_files import DataFiles, Model
from ._failures import native, raise_failure
from ._table import table


@dataclass(frozen=True)
class TensorView:
    """One form in which a job may pass a tensor.

    `type` is the type of an element such as "FLOAT32", `layout` such as "NCHW", and `bytes` the size
    of one frame. In `shape` an open dimension is None; the shape is None if its rank is open, too.
    `bytes` is None for an open shape.
    """

    type: str
    layout: str
    shape: tuple[int | None, ...] | None
    bytes: int | None


@dataclass(frozen=True)
class ModelTensor:
    """An input or output of a model.

    `hw` is the view in the device's own form, None where there is none: `why_no_hw` says why. Real
    values are (integer - zero_point) * scale in views of integers.
    """

    name: str
    cpu: TensorView
    hw: TensorView | None
    why_no_hw: str
    scale: float
    zero_point: int


@dataclass(frozen=True, repr=False)
class ModelInfo:
    """What is in a model; print() shows it as a table.

    `operators` counts the operators by name. `dynamic` says whether each job determines shapes.
    `json` is everything that `millrace inspect --json` prints: also partitions, profiles, operators
    in other precisions and the memory plan.
    """

    name: str
    producer: str
    precision: str
    batch_size: int
    dynamic: bool
    inputs: tuple[ModelTensor, ...]
    outputs: tuple[ModelTensor, ...]
    operators: Mapping[str, int]
    json: Mapping[str, Any]

    def __repr__(self) -> str:
        tensors = f"{len(self.inputs)} inputs, {len(self.outputs)} outputs"
        return f"<millrace.ModelInfo {self.name!r}: {self.precision}, {tensors}>"

    def __str__(self) -> str:
        shapes = "open" if self.dynamic else "static"
        title = f"{self.name}: {self.precision}, batches of up to {self.batch_size}, {shapes} shapes"
        header = ("", "name", "type", "shape", "layout", "HW type", "HW layout")
        named = [("input", one) for one in self.inputs] + [("output", one) for one in self.outputs]
        rows = (
            (
                kind,
                tensor.name,
                tensor.cpu.type,
                _shape_text(tensor.cpu.shape),
                tensor.cpu.layout,
                tensor.hw.type if tensor.hw else "-",
                tensor.hw.layout if tensor.hw else "-",
            )
            for kind, tensor in named
        )
        counts = ", ".join(f"{count} {name}" for name, count in self.operators.items())
        return f"{title}\n{table(header, rows, range(7))}\noperators: {counts}"


def _shape_text(shape: tuple[int | None, ...] | None) -> str:
    if shape is None:
        return "any"
    return "x".join("?" if size is None else str(size) for size in shape) or "scalar"


def inspect(model: Model) -> ModelInfo:
    """Describes an archive, or an `.onnx` file, which is compiled in FP32 for that.

    Raises `Unsupported` for a model with operators that are not supported: its message lists
    all of them, one a line, with domain, opset and nodes.
    """
    compiler = native()
    with DataFiles() as files:
        path = files.model(model)
        try:
            described = json.loads(compiler.describe(path))
        except compiler.Failure as failure:
            raise_failure(failure)
    return ModelInfo(
        name=described["name"],
        producer=described["producer"],
        precision=described["precision"],
        batch_size=described["batch_size"],
        dynamic=described["dynamic"],
        inputs=tuple(_tensor(tensor) for tensor in described["inputs"]),
        outputs=tuple(_tensor(tensor) for tensor in described["outputs"]),
        operators=described["operators"],
        json=described,
    )


def _view(view: Mapping[str, Any]) -> TensorView:
    shape = view["shape"]
    return TensorView(
        type=view["type"],
        layout=view["layout"],
        shape=None if shape is None else tuple(shape),
        bytes=view.get("bytes"),
    )


def _tensor(tensor: Mapping[str, Any]) -> ModelTensor:
    return ModelTensor(
        name=tensor["name"],
        cpu=_view(tensor["cpu"]),
        hw=_view(tensor["hw"]) if "hw" in tensor else None,
        why_no_hw=tensor.get("why_no_hw", ""),
        scale=tensor["quantisation"]["scale"],
        zero_point=tensor["quantisation"]["zero_point"],
    )
