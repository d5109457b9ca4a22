"""Writes small ONNX files without the package `onnx`: the protobuf encoding of a few messages."""

from __future__ import annotations

from typing import Union

FLOAT = 1


def _varint(number: int) -> bytes:
    encoded = b""
    while number > 0x7F:
        encoded += bytes([number & 0x7F | 0x80])
        number >>= 7
    return encoded + bytes([number])


def _field(number: int, value: Union[int, str, bytes]) -> bytes:
    if isinstance(value, int):
        return _varint(number << 3) + _varint(value)
    content = value.encode() if isinstance(value, str) else value
    return _varint(number << 3 | 2) + _varint(len(content)) + content


def value_info(name: str, shape: list[Union[int, str]]) -> bytes:
    """A FLOAT tensor; a dimension that is text is a symbol."""
    dims = b"".join(_field(1, _field(1 if isinstance(dim, int) else 2, dim)) for dim in shape)
    tensor = _field(1, FLOAT) + _field(2, dims)
    return _field(1, name) + _field(2, _field(1, tensor))


def node(operator: str, inputs: list[str], outputs: list[str], name: str) -> bytes:
    return (
        b"".join(_field(1, one) for one in inputs)
        + b"".join(_field(2, one) for one in outputs)
        + _field(3, name)
        + _field(4, operator)
    )


def model(
    nodes: list[bytes],
    inputs: dict[str, list[Union[int, str]]],
    outputs: dict[str, list[Union[int, str]]],
) -> bytes:
    graph = (
        b"".join(_field(1, one) for one in nodes)
        + _field(2, "graph")
        + b"".join(_field(11, value_info(*one)) for one in inputs.items())
        + b"".join(_field(12, value_info(*one)) for one in outputs.items())
    )
    opset = _field(1, "") + _field(2, 17)
    return _field(1, 8) + _field(7, graph) + _field(8, opset)
