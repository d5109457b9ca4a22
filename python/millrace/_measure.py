"""Measures models on data: millrace.evaluate(), millrace.compare() and millrace.profile()."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Union

import numpy.typing as npt

from . import _options
from ._data_files import Data, DataFiles, Model, PathLike
from ._failures import native, raise_failure
from ._table import number, table


@dataclass(frozen=True)
class ModelScore:
    """How a classifier did on the samples.

    `top1` and `top` are the shares of samples whose class ranks first, and among the first K; None
    without labels. The rest compares its scores with those of the first model, and is None for the
    first: the share of samples with the same best class, and the mean and least cosine similarity.
    """

    model: str
    precision: str
    top1: float | None
    top: float | None
    same_top1: float | None
    cosine_mean: float | None
    cosine_least: float | None


@dataclass(frozen=True, repr=False)
class Evaluation:
    """The result of `evaluate()`; print() shows it as a table.

    `top` is K, `models` are in the order of the arguments.
    """

    samples: int
    classes: int
    top: int
    models: tuple[ModelScore, ...]

    def __repr__(self) -> str:
        return f"<millrace.Evaluation: {len(self.models)} models, {self.samples} samples>"

    def __str__(self) -> str:
        header = ("model", "precision", "top 1", f"top {self.top}", "same top 1", "cosine", "least")
        rows = (
            (
                score.model,
                score.precision,
                number(score.top1, ".2%"),
                number(score.top, ".2%"),
                number(score.same_top1, ".2%"),
                number(score.cosine_mean, ".5f"),
                number(score.cosine_least, ".5f"),
            )
            for score in self.models
        )
        title = f"{self.samples} samples of {self.classes} classes"
        return f"{title}\n{table(header, rows, range(2))}"


@dataclass(frozen=True)
class LayerDifference:
    """How much a value of the first model differs from that of the other side.

    `largest` is the greatest distance of two elements, infinite if one of them is NaN, and
    `relative` is that divided by the greatest magnitude on the other side. `steps` is the distance
    in steps of a tensor of integers, None for one of floating point. `shape` is that of one frame.
    `beyond` says whether `relative` exceeds the threshold.
    """

    value: str
    shape: tuple[int, ...]
    largest: float
    relative: float
    cosine: float
    steps: float | None
    beyond: bool


@dataclass(frozen=True, repr=False)
class Comparison:
    """The result of `compare()`; print() shows it as a table.

    `layers` are in the order in which the first model makes them. `first_beyond` is the name of the
    first that differs by more than the threshold, None if there is none. `not_compared` counts the
    values that the other side does not have.
    """

    threshold: float
    layers: tuple[LayerDifference, ...]
    first_beyond: str | None
    not_compared: int

    @property
    def is_within(self) -> bool:
        """Whether all layers are within the threshold."""
        return self.first_beyond is None

    def __repr__(self) -> str:
        found = "all within" if self.is_within else f"first beyond: {self.first_beyond!r}"
        return (
            f"<millrace.Comparison: {len(self.layers)} layers, {found}, "
            f"{self.not_compared} not compared>"
        )

    def __str__(self) -> str:
        header = ("value", "shape", "largest", "relative", "cosine", "steps", "")
        rows = (
            (
                layer.value,
                "x".join(map(str, layer.shape)),
                f"{layer.largest:.3g}",
                f"{layer.relative:.3g}",
                f"{layer.cosine:.6f}",
                number(layer.steps, "g"),
                "beyond" if layer.beyond else "",
            )
            for layer in self.layers
        )
        title = f"threshold {self.threshold:g}; {self.not_compared} values are not compared"
        return f"{title}\n{table(header, rows, range(2))}"


@dataclass(frozen=True)
class Step:
    """A step of a program: the kernel that computes an operator, or a conversion between kernels.

    `node` is the name of the operator's node, empty for a conversion. `mean_us` is its mean time in
    a job in microseconds, and `share` its part of the job's time, from 0 to 1.
    """

    node: str
    operation: str
    kernel: str
    precision: str
    partition: str
    mean_us: float
    share: float


@dataclass(frozen=True, repr=False)
class Profile:
    """The result of `profile()`; print() shows it as a table.

    It has the mean time of a frame in microseconds, and that of each step in a job.
    """

    precision: str
    device: str
    mean_frame_us: float
    steps: tuple[Step, ...]

    def __repr__(self) -> str:
        return (
            f"<millrace.Profile: {len(self.steps)} steps, {self.mean_frame_us:.1f} us a frame, "
            f"{self.precision} on {self.device}>"
        )

    def __str__(self) -> str:
        header = ("us", "share", "operation", "kernel", "precision", "node")
        rows = (
            (
                f"{step.mean_us:.1f}",
                f"{step.share:.1%}",
                step.operation,
                step.kernel,
                step.precision,
                step.node,
            )
            for step in self.steps
        )
        title = f"{self.precision} on {self.device}: {self.mean_frame_us:.1f} us a frame"
        return f"{title}\n{table(header, rows, range(2, 6))}"

    def by_operation(self) -> dict[str, float]:
        """Returns the microseconds of all steps of an operation, the most expensive first."""
        times: dict[str, float] = {}
        for step in self.steps:
            times[step.operation] = times.get(step.operation, 0.0) + step.mean_us
        return dict(sorted(times.items(), key=lambda entry: -entry[1]))


def evaluate(
    model: Model,
    data: Data,
    labels: Union[PathLike, npt.ArrayLike, None] = None,
    *,
    against: Iterable[Model] = (),
    classes: PathLike | None = None,
    output: str = "",
    top: int = 5,
    limit: int = 0,
    mean: float | Iterable[float] = (),
    scale: float | Iterable[float] = (),
    std: float | Iterable[float] = (),
    normalize: str | None = None,
    order: str = "rgb",
    resize: str = "stretch",
    short_side: int = 0,
    shapes: Mapping[str, Sequence[int]] | None = None,
    device: str = "cpu",
) -> Evaluation:
    """Measures the accuracy of a classifier, and its agreement with other models.

    The numbers are those of `millrace evaluate`. `data` is what `compile()` takes as `calibrate`.
    `labels` are the classes of the samples, in order: an array of integers, a `.npy` file, or a text
    file as `millrace evaluate --labels` takes it, with the names of the classes in the file
    `classes`. Models in `against` run on the same samples and are compared with the first; `labels`
    may then be left out.

    `output` is the name of the output with the scores, needed if several may have them. `limit` is
    the greatest number of samples, 0 for all. `shapes` are those of open inputs. `mean` to
    `short_side` say how pictures are preprocessed (`compile()`).
    """
    with DataFiles() as files:
        options: dict[str, Any] = {
            "model": files.model(model),
            "against": [files.model(other) for other in against],
            "data": files.sources(data),
            "labels": b"" if labels is None else files.array(labels),
            "classes": _options.path(classes),
            "output": output,
            "top": _options.in_range("top", top, 1, 2**32 - 1),
            "limit": _options.in_range("limit", limit, 0, 2**63),
            "shapes": _options.shape_list(shapes),
            "device": device,
            **_options.picture_options(mean, scale, std, normalize, order, resize, short_side),
        }
        found = _call("evaluate", options)
    scores = tuple(
        ModelScore(
            model=one["model"],
            precision=one["precision"],
            top1=one.get("top1"),
            top=one.get(f"top{found['top']}"),
            same_top1=one.get("same_top1"),
            cosine_mean=one.get("cosine_mean"),
            cosine_least=one.get("cosine_least"),
        )
        for one in found["models"]
    )
    return Evaluation(found["samples"], found["classes"], found["top"], scores)


def compare(
    model: Model,
    other: Model | None = None,
    data: Union[PathLike, npt.ArrayLike, Mapping[str, Union[PathLike, npt.ArrayLike]], None] = None,
    *,
    reference: Union[PathLike, Mapping[str, npt.ArrayLike], None] = None,
    threshold: float = 1e-3,
    mean: float | Iterable[float] = (),
    scale: float | Iterable[float] = (),
    std: float | Iterable[float] = (),
    normalize: str | None = None,
    order: str = "rgb",
    resize: str = "stretch",
    short_side: int = 0,
    shapes: Mapping[str, Sequence[int]] | None = None,
    device: str = "cpu",
) -> Comparison:
    """Compares the values inside two compilations of one model, layer by layer.

    The numbers are those of `millrace compare`. `other` is a second model; instead of it, `reference`
    may be a folder of `NAME.npy`, or a dict of arrays, with values of another framework ('/' in a
    name is '-' in that of a file). `data` are the inputs: an array or a file, by name if there are
    several, of one frame or more; `mean` to `short_side` say how pictures among them are preprocessed
    (`compile()`). Values that only one side has are counted, not compared.
    """
    with DataFiles() as files:
        options: dict[str, Any] = {
            "model": files.model(model),
            "other": b"" if other is None else files.model(other),
            "reference": b"" if reference is None else files.folder_of(reference),
            "inputs": [] if data is None else files.inputs(data),
            "threshold": float(threshold),
            "shapes": _options.shape_list(shapes),
            "device": device,
            **_options.picture_options(
                mean, scale, std, normalize, order, resize, short_side
            ),
        }
        found = _call("compare", options)
    layers = tuple(
        LayerDifference(
            value=layer["value"],
            shape=tuple(layer["shape"]),
            largest=_number(layer["largest"]),
            relative=_number(layer["relative"]),
            cosine=layer["cosine"],
            steps=layer["steps"],
            beyond=layer["beyond"],
        )
        for layer in found["layers"]
    )
    return Comparison(found["threshold"], layers, found["first_beyond"], found["not_compared"])


def profile(
    model: Model,
    *,
    runs: int = 20,
    shapes: Mapping[str, Sequence[int]] | None = None,
    device: str = "cpu",
) -> Profile:
    """Runs a model on random inputs and returns the time of each step of its program.

    The numbers are those of `millrace explain --profile`. `runs` is the number of measured jobs, of
    as many frames as the model has in a batch, one at a time; `shapes` are those of open inputs.
    """
    with DataFiles() as files:
        options: dict[str, Any] = {
            "model": files.model(model),
            "profile": True,
            "runs": _options.in_range("runs", runs, 1, 1_000_000),
            "shapes": _options.shape_list(shapes),
            "device": device,
        }
        found = _call("explain", options)
    steps = tuple(
        Step(
            node=step["node"],
            operation=step["operation"],
            kernel=step["kernel"],
            precision=step["precision"],
            partition=partition["kind"],
            mean_us=step["mean_us"],
            share=step["share"],
        )
        for partition in found["partitions"]
        for step in partition["steps"]
    )
    return Profile(found["precision"], found["device"], found["mean_frame_us"], steps)


def _call(function: str, options: dict[str, Any]) -> Any:
    compiler = native()
    try:
        return json.loads(getattr(compiler, function)(options))
    except compiler.Failure as failure:
        raise_failure(failure)


def _number(value: float | None) -> float:
    """Returns a number of a report, in which null stands for infinity."""
    return math.inf if value is None else value
