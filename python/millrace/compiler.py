"""Compiles ONNX models to archives, and inspects, compares and profiles models.

These functions do what the commands of the program `millrace` do, on the same code: the same options
give the same bytes and the same numbers. Failures have the same messages, in which arguments of Python
stand for options of the program. None of them prints.
The GIL is released while a model is compiled or runs.

A model is the path of an `.onnx` file or of an archive, an `Archive`, or the bytes of either.

Failures raise the exceptions of `millrace`: `InvalidArgument` for an option that the model does
not allow, `Unsupported` with the list of all operators that are not supported,
`CorruptData` for a file that is no model, `NotFound`. A value that no model allows raises
ValueError, a value of the wrong type TypeError, before any work is done.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from . import _options
from ._archive import (
    Archive,
    QuantisationReport,
    QuantisedLayer,
    memory_file,
    path_of_descriptor,
    report_from,
)
from ._data_files import Data, DataFiles, Model, PathLike, is_path
from ._failures import in_words_of_python, native, raise_failure
from ._inputs import read_inputs
from ._measure import (
    Comparison,
    Evaluation,
    LayerDifference,
    ModelScore,
    Profile,
    Step,
    compare,
    evaluate,
    profile,
)
from ._model_info import ModelInfo, TensorView, ModelTensor, inspect
from ._options import HwLayout, Shape
from ._tuning import Tuning, tune

__all__ = [
    "Archive",
    "Comparison",
    "Evaluation",
    "LayerDifference",
    "ModelInfo",
    "ModelScore",
    "ModelTensor",
    "Profile",
    "QuantisationReport",
    "QuantisedLayer",
    "Step",
    "TensorView",
    "Tuning",
    "compare",
    "compile",
    "evaluate",
    "inspect",
    "profile",
    "quantise",
    "read_inputs",
    "tune",
]

_PRECISIONS = ("fp32", "bf16", "fp16", "int8", "auto")
_METHODS = ("minmax", "percentile", "mse", "entropy")
_MOST_FRAMES = 4096


def compile(
    model: Model,
    output: PathLike | None = None,
    *,
    precision: str | None = None,
    batch: int | None = None,
    shapes: Mapping[str, Shape] | None = None,
    profiles: Mapping[str, Mapping[str, Sequence[int]]] | None = None,
    calibrate: Data | None = None,
    calibrate_samples: int = 64,
    calibrate_method: str = "percentile",
    keep: Iterable[str] = (),
    accuracy_target: float | str | None = None,
    quantise_outputs: bool = False,
    power_of_two_scales: bool = False,
    equalise: bool = True,
    correct_bias: bool = True,
    report: PathLike | None = None,
    mean: float | Iterable[float] = (),
    scale: float | Iterable[float] = (),
    std: float | Iterable[float] = (),
    normalize: str | None = None,
    order: str = "rgb",
    resize: str = "stretch",
    short_side: int = 0,
    hw_layouts: Mapping[str, HwLayout] | None = None,
    hw_quantisation: str = "vendor",
    cpu_operators: Iterable[str] = (),
    full_precision: Iterable[str] = (),
    reference: bool = False,
    format: str = "rai",
    config: PathLike | None = None,
    dump_passes: PathLike | None = None,
    emit_qdq: PathLike | None = None,
    name: str = "model",
) -> Archive:
    """Compiles an ONNX model to an archive, as `millrace compile` does.

    Without `output` the archive lies in memory (`Archive`). With it, the file is written, and
    replaced if it exists; nothing is left there after a failure.

        archive = millrace.compile("net.onnx", precision="bf16")
        model = millrace.load(archive)

    What is compiled:

    - `model`: the path of an `.onnx` file, or its bytes. In bytes, `name` is the name of the model
      and stands in messages, and files of external data are searched in the current folder.
    - `shapes`: shapes of one frame by input, which fix dimensions that the model leaves open, such as
      `{"input": (1, 3, 224, 224)}`. None keeps a dimension open: each job determines it.
    - `batch`: the greatest number of frames in one job, from 1 (the default) to 4096.
    - `profiles`: for a dynamic model, shapes of all open inputs by name of the profile, with which
      APIs for static shapes load it; the first is the default.

    How it computes:

    - `precision`: "fp32" (the default), "bf16", "fp16", "int8", which quantises the model on
      calibration data, or "auto", which is BF16 with FP32 for layers that would lose too much.
    - `cpu_operators`, `full_precision`: names of operators and nodes to run on the CPU instead of the
      NPU, and to compute in FP32 in a BF16 or FP16 program.
    - `hw_layouts`: layouts of HW views by input or output, "NHWC" or ("GENERIC", (0, 2, 3, 1)).
    - `hw_quantisation`: the form of quantised HW views, "vendor" or "model".
    - `reference`: compute quantised operators one by one, as the ONNX standard defines each.
    - `config`: a JSON configuration of the board's compiler. Arguments take precedence.

    Calibration, for "int8" and "auto":

    - `calibrate`: typical inputs. An array with the shape of the input, or a stack of them; an
      iterable of such arrays; a file or a folder of pictures, `.npy` and `.bin` files, or a list of
      those. For a model with several inputs, a dict of any of these by input, or an iterable of dicts
      of arrays. Arrays are converted to the type of the input. For an input of pictures, UINT8
      arrays [N,H,W] and [N,H,W,C] are stacks of pictures and are preprocessed like files.
    - `calibrate_samples`: the greatest number of samples, evenly spaced over the data.
    - `calibrate_method`: "minmax", "percentile", "mse" or "entropy".
    - `keep`: names of operators and nodes to keep in floating point ("auto": in FP32).
    - `accuracy_target`: the greatest error of the outputs, as 0.01 or "1%". The layers that lose
      most are kept in a higher precision until it holds.
    - `quantise_outputs`, `power_of_two_scales`, `equalise`, `correct_bias`: see `millrace compile
      --help`.
    - `report`: an `.html` file to write, with the precision and the loss of each layer.
    - `mean`, `scale`, `std`, `normalize`, `order`, `resize`, `short_side`: how pictures are
      preprocessed. From pixels of 0 to 255 the mean is subtracted, and the rest is multiplied by the
      scale, or divided by `std`; each is one value, or one per channel. `normalize` is "imagenet",
      "unit" (0 to 1) or "none" instead.

    `format` is "rai" for a file or "dir" for a directory; `dump_passes` is a folder for the graph
    after each pass; `emit_qdq` is an `.onnx` file to write for other runtimes.
    """
    given = [
        option
        for option, value in (("--batch", batch), ("--precision", precision))
        if value is not None
    ]
    if output is None and _options.one_of("format", format, ("rai", "dir")) == "dir":
        raise ValueError("format: 'dir' needs an output, since a directory cannot lie in memory")
    options: dict[str, Any] = {
        "given": given,
        "output": _options.path(output),
        "format": _options.one_of("format", format, ("rai", "dir")),
        "precision": _options.one_of("precision", precision or "fp32", _PRECISIONS),
        "batch": _options.in_range("batch", 1 if batch is None else batch, 1, _MOST_FRAMES),
        "input_shapes": _options.shape_list(shapes),
        "profiles": _options.profile_list(profiles),
        "hw_layouts": _options.layout_list(hw_layouts),
        "hw_quantisation": _options.one_of(
            "hw_quantisation", hw_quantisation, ("vendor", "model")
        ),
        "cpu_operators": _options.names("cpu_operators", cpu_operators),
        "full_precision": _options.names("full_precision", full_precision),
        "reference": reference,
        "config": _options.path(config),
        "dump_passes": _options.path(dump_passes),
        "emit_qdq": _options.path(emit_qdq),
        "samples": _options.in_range("calibrate_samples", calibrate_samples, 1, 100_000),
        "method": _options.one_of("calibrate_method", calibrate_method, _METHODS),
        "keep": _options.names("keep", keep),
        "accuracy_target": "" if accuracy_target is None else str(accuracy_target),
        "quantise_outputs": quantise_outputs,
        "power_of_two_scales": power_of_two_scales,
        "no_equalisation": not equalise,
        "no_bias_correction": not correct_bias,
        "report": _options.path(report),
        **_options.picture_options(
            mean, scale, std, normalize, order, resize, short_side
        ),
    }
    with DataFiles() as files:
        options["data"] = files.sources(calibrate)
        if is_path(model):
            return _compile(options | {"model": os.fsencode(model)}, None)
        return _compile(options | {"model": name}, model)


def quantise(
    model: Model,
    data: Data,
    output: PathLike | None = None,
    *,
    precision: str = "int8",
    **options: Any,
) -> Archive:
    """Compiles an ONNX model in a lower precision, chosen by measurements on typical inputs.

    `data` is the argument `calibrate` of `compile()`, and `options` are its other arguments. The
    precision is "int8" or "auto". The `report` of the result says what each layer has lost.

        archive = millrace.quantise("net.onnx", "photos", accuracy_target="1%")
        print(archive.report.mean_cosine)
    """
    _options.one_of("precision", precision, ("int8", "auto"))
    return compile(model, output, precision=precision, calibrate=data, **options)


def _compile(options: dict[str, Any], content: Any) -> Archive:
    if options["output"]:
        messages, report = _call_compiler(options, content, -1)
        return Archive(os.fsdecode(options["output"]), messages, report)
    descriptor = memory_file()
    archive = Archive(path_of_descriptor(descriptor), descriptor=descriptor)
    archive.messages, archive.report = _call_compiler(options, content, descriptor)
    return archive


def _call_compiler(
    options: dict[str, Any], content: Any, descriptor: int
) -> tuple[tuple[str, ...], QuantisationReport | None]:
    compiler = native()
    try:
        messages, report = compiler.compile(options, content, descriptor)
    except compiler.Failure as failure:
        raise_failure(failure)
    return tuple(map(in_words_of_python, messages)), report_from(report)
