"""Archive: a compiled model, in a file or in memory."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ._table import number, table


@dataclass(frozen=True)
class QuantisedLayer:
    """What a quantisation did to one layer, measured on the calibration data.

    `snr_db` is the signal-to-noise ratio in dB if this layer alone has the lower precision, and
    `cosine` the cosine similarity of its result with the exact one; both are None if they were not
    measured. `low` and `high` are the range of real values that its result can hold, and `scale` is
    that of its integers, 0 if it has none. The times are the least of a job in milliseconds, before
    and after, None if they were not measured.
    """

    name: str
    operator: str
    precision: str
    is_kept: bool
    snr_db: float | None
    cosine: float | None
    low: float
    high: float
    scale: float
    ms_before: float | None
    ms_after: float | None


@dataclass(frozen=True, repr=False)
class QuantisationReport:
    """The effects of a calibration on size, time and accuracy; print() shows it as a table.

    Sizes are those of the weights in bytes, times are sums over all layers in milliseconds.
    `same_top1` is the number of samples whose best class is the same in both programs, None for a
    model that is no classifier. `mean_cosine` and `worst_cosine` compare the outputs with those of
    the FP32 program, over the samples.
    """

    precision: str
    method: str
    samples: int
    bytes_before: int
    bytes_after: int
    ms_before: float | None
    ms_after: float | None
    same_top1: int | None
    mean_cosine: float
    worst_cosine: float
    warnings: tuple[str, ...]
    layers: tuple[QuantisedLayer, ...]

    def __repr__(self) -> str:
        return (
            f"<millrace.QuantisationReport: {self.precision}, {len(self.layers)} layers, "
            f"mean cosine {self.mean_cosine:.5f}>"
        )

    def __str__(self) -> str:
        method = f" by {self.method}" if self.method else ""
        lines = [
            f"{self.precision}, calibrated{method} on {self.samples} samples",
            f"weights: {self.bytes_before:,} -> {self.bytes_after:,} bytes",
        ]
        if self.ms_before is not None and self.ms_after is not None:
            lines.append(f"time: {self.ms_before:.3f} -> {self.ms_after:.3f} ms")
        lines.append(f"outputs: cosine {self.mean_cosine:.5f} in the mean, {self.worst_cosine:.5f} least")
        if self.same_top1 is not None:
            lines.append(f"same best class: {self.same_top1} of {self.samples} samples")
        lines += [f"warning: {warning}" for warning in self.warnings]
        header = ("layer", "operator", "precision", "", "SNR dB", "cosine", "ms before", "ms after")
        rows = (
            (
                layer.name,
                layer.operator,
                layer.precision,
                "kept" if layer.is_kept else "",
                number(layer.snr_db, ".1f"),
                number(layer.cosine, ".5f"),
                number(layer.ms_before, ".3f"),
                number(layer.ms_after, ".3f"),
            )
            for layer in self.layers
        )
        return "\n".join([*lines, table(header, rows, range(4))])


class Archive(os.PathLike[str]):
    """A compiled model. Every function that takes the path of a model also takes an archive.

    An archive that was compiled without an output lies in memory, once: `millrace.load()` maps it as
    it maps a file. It is freed with this object and with what was loaded from it. Other processes
    cannot open it: `save()` it for them.

    `messages` are the lines that `millrace compile` prints about the model: its size and precision,
    notes about its shapes, its class names and its operators on the CPU. Options of that program are
    named as arguments of `millrace.compile()`. `report` describes the accuracy after a calibration; it
    is None without one.
    """

    def __init__(
        self,
        path: str,
        messages: tuple[str, ...] = (),
        report: QuantisationReport | None = None,
        descriptor: int | None = None,
    ) -> None:
        self._path = path
        self._descriptor = descriptor
        self.messages = messages
        self.report = report

    def __fspath__(self) -> str:
        return self._path

    @property
    def is_in_memory(self) -> bool:
        """Whether the archive lies in memory rather than in a file of its own."""
        return self._descriptor is not None

    def __bytes__(self) -> bytes:
        """Returns a copy of the archive's bytes. IsADirectoryError for the form of a directory."""
        return Path(self._path).read_bytes()

    def save(self, path: str | os.PathLike[str]) -> Archive:
        """Copies the archive to a file, which is replaced if it exists, and returns that archive.

        OSError if the file cannot be written; IsADirectoryError for the form of a directory.
        """
        target = os.fspath(path)
        shutil.copyfile(self._path, target)
        return Archive(target, self.messages, self.report)

    def __repr__(self) -> str:
        return f"<millrace.Archive {'in memory' if self.is_in_memory else self._path}>"

    def __del__(self) -> None:
        descriptor, self._descriptor = getattr(self, "_descriptor", None), None
        if descriptor is not None:
            os.close(descriptor)


def memory_file() -> int:
    """Returns the descriptor of a new, empty file in memory. OSError if there can be none."""
    return os.memfd_create("millrace-archive", os.MFD_CLOEXEC)


def path_of_descriptor(descriptor: int) -> str:
    """Returns a path under which this process can open the file of a descriptor."""
    return f"/proc/self/fd/{descriptor}"


def report_from(values: dict[str, Any] | None) -> QuantisationReport | None:
    """Makes the report of the dict that the extension module returns."""
    if values is None:
        return None
    layers = tuple(QuantisedLayer(**layer) for layer in values["layers"])
    others: dict[str, Any] = {"warnings": tuple(values["warnings"]), "layers": layers}
    return QuantisationReport(**values | others)
