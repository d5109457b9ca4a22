"""Checks options, and writes them as the command line program takes them."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Optional, TypeVar, Union

# A dimension that is None stays open: each job determines it.
Shape = Sequence[Optional[int]]
# The name of a layout, or ("GENERIC", order of the dimensions).
HwLayout = Union[str, "tuple[str, Sequence[int]]"]
Number = TypeVar("Number", int, float)
_NORMALISATIONS = ("imagenet", "unit", "none")


def one_of(name: str, value: str, allowed: Collection[str]) -> str:
    if value in allowed:
        return value
    names = ", ".join(repr(one) for one in allowed)
    raise ValueError(f"{name}: {value!r} is none of {names}")


def in_range(name: str, value: Number, least: Number, most: Number) -> Number:
    if least <= value <= most:
        return value
    raise ValueError(f"{name}: {value} is not between {least} and {most}")


def names(name: str, values: Iterable[str]) -> list[str]:
    if isinstance(values, str):
        raise TypeError(f"{name}: a list of names is needed, not the text {values!r}")
    return list(values)


def path(value: str | os.PathLike[str] | None) -> bytes:
    return b"" if value is None else os.fsencode(value)


def shape_text(shape: Shape) -> str:
    return ",".join("?" if dim is None else str(dim) for dim in shape)


def shape_list(shapes: Mapping[str, Shape] | None) -> list[str]:
    """Returns shapes in the form NAME=1,3,224,224."""
    return [f"{name}={shape_text(shape)}" for name, shape in (shapes or {}).items()]


def profile_list(profiles: Mapping[str, Mapping[str, Sequence[int]]] | None) -> list[str]:
    """Returns profiles in the form NAME:x=1,3,224,224;y=1,10."""
    return [f"{name}:{';'.join(shape_list(shapes))}" for name, shapes in (profiles or {}).items()]


def layout_list(layouts: Mapping[str, HwLayout] | None) -> list[str]:
    """Returns layouts in the form NAME=NHWC or NAME=GENERIC:0,2,3,1."""
    return [f"{name}={_layout_text(layout)}" for name, layout in (layouts or {}).items()]


def _layout_text(layout: HwLayout) -> str:
    if isinstance(layout, str):
        return layout
    kind, order = layout
    return f"{kind}:{','.join(map(str, order))}"


def per_channel(values: float | Iterable[float]) -> list[float]:
    """Returns a value for all channels, or one for each, as a list."""
    return [float(values)] if isinstance(values, (int, float)) else [float(v) for v in values]


def picture_options(
    mean: float | Iterable[float],
    scale: float | Iterable[float],
    std: float | Iterable[float],
    normalize: str | None,
    order: str,
    resize: str,
    short_side: int,
) -> dict[str, object]:
    return {
        "mean": per_channel(mean),
        "scale": per_channel(scale),
        "deviation": per_channel(std),
        "normalise": one_of("normalize", normalize, _NORMALISATIONS) if normalize else "",
        "order": one_of("order", order, ("rgb", "bgr")),
        "resize": one_of("resize", resize, ("stretch", "crop", "letterbox")),
        "short_side": in_range("short_side", short_side, 0, 2**32 - 1),
    }
