"""Writes small models of ONNX: just the fields of the format that the tests need."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from typing import Union

FLOAT, UINT8, INT64 = 1, 2, 7


@dataclass(frozen=True)
class Value:
    """A tensor. Dimensions with a name are open."""

    name: str
    shape: "list[Union[int, str]]" = field(hash=False)
    type: int = FLOAT


@dataclass(frozen=True)
class Node:
    op_type: str
    inputs: list[str]
    outputs: list[str]


def _varint(number: int) -> bytes:
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def _number(key: int, number: int) -> bytes:
    return _varint(key << 3) + _varint(number)


def _bytes(key: int, content: "bytes | str") -> bytes:
    raw = content.encode() if isinstance(content, str) else content
    return _varint(key << 3 | 2) + _varint(len(raw)) + raw


def _node(node: Node) -> bytes:
    names = b"".join(_bytes(1, name) for name in node.inputs)
    return names + b"".join(_bytes(2, name) for name in node.outputs) + _bytes(4, node.op_type)


def _dimension(size: "int | str") -> bytes:
    return _bytes(1, _bytes(2, size) if isinstance(size, str) else _number(1, size))


def _value(value: Value) -> bytes:
    shape = b"".join(_dimension(size) for size in value.shape)
    tensor = _number(1, value.type) + _bytes(2, shape)
    return _bytes(1, value.name) + _bytes(2, _bytes(1, tensor))


def _constant(value: Value, elements: list[float]) -> bytes:
    sizes = b"".join(_number(1, int(size)) for size in value.shape)
    raw = struct.pack(f"<{len(elements)}f", *elements)
    return sizes + _number(2, value.type) + _bytes(8, value.name) + _bytes(9, raw)


def model(
    nodes: list[Node],
    inputs: list[Value],
    outputs: list[Value],
    constants: "dict[Value, list[float]] | None" = None,
) -> bytes:
    """Returns the file of a model, of opset 17."""
    graph = b"".join(_bytes(1, _node(node)) for node in nodes) + _bytes(2, "tiny")
    for value, elements in (constants or {}).items():
        graph += _bytes(5, _constant(value, elements))
    graph += b"".join(_bytes(11, _value(value)) for value in inputs)
    graph += b"".join(_bytes(12, _value(value)) for value in outputs)
    return _number(1, 8) + _bytes(7, graph) + _bytes(8, _number(2, 17))
