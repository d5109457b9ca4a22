"""Models for the tests: small ones of one or two operators, and the network of the demo."""

from __future__ import annotations

import gc
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tiny_onnx import Node, Value, model

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get("MILLRACE_PROGRAM", str(ROOT / "build/release/bin/millrace"))


def compiled(folder: Path, name: str, content: bytes, *options: str) -> Path:
    """Compiles a model of ONNX with the tool, since the package may come without the compiler."""
    source = folder / f"{name}.onnx"
    source.write_bytes(content)
    archive = folder / f"{name}.rai"
    subprocess.run(
        [PROGRAM, "compile", str(source), "-o", str(archive), *options],
        check=True,
        capture_output=True,
    )
    return archive


@pytest.fixture(autouse=True)
def closed_devices() -> Iterator[None]:
    """Frees what a test has made, so that the next one opens its device anew, with its own faults."""
    yield
    gc.collect()


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("models")


@pytest.fixture(scope="session")
def add_archive(folder: Path) -> Path:
    """sum = left + right, FLOAT32 of the shape (1, 4, 2, 3)."""
    shape = [1, 4, 2, 3]
    nodes = [Node("Add", ["left", "right"], ["sum"])]
    inputs = [Value("left", shape), Value("right", shape)]
    return compiled(folder, "add", model(nodes, inputs, [Value("sum", shape)]))


@pytest.fixture(scope="session")
def batch_add_archive(folder: Path) -> Path:
    """The same, of up to four frames."""
    shape = [1, 4, 2, 3]
    nodes = [Node("Add", ["left", "right"], ["sum"])]
    inputs = [Value("left", shape), Value("right", shape)]
    content = model(nodes, inputs, [Value("sum", shape)])
    return compiled(folder, "batch_add", content, "--batch", "4")


@pytest.fixture(scope="session")
def relu_archive(folder: Path) -> Path:
    """positive = max(x, 0), FLOAT32 of the shape (1, 8)."""
    nodes = [Node("Relu", ["x"], ["positive"])]
    return compiled(folder, "relu", model(nodes, [Value("x", [1, 8])], [Value("positive", [1, 8])]))


@pytest.fixture(scope="session")
def batch_archive(folder: Path) -> Path:
    """The same, of up to four frames."""
    nodes = [Node("Relu", ["x"], ["positive"])]
    content = model(nodes, [Value("x", [1, 8])], [Value("positive", [1, 8])])
    return compiled(folder, "batch", content, "--batch", "4")


@pytest.fixture(scope="session")
def two_outputs_archive(folder: Path) -> Path:
    """positive = max(x, 0) and opposite = -x, of the shape (1, 8)."""
    nodes = [Node("Relu", ["x"], ["positive"]), Node("Neg", ["x"], ["opposite"])]
    outputs = [Value("positive", [1, 8]), Value("opposite", [1, 8])]
    return compiled(folder, "two_outputs", model(nodes, [Value("x", [1, 8])], outputs))


@pytest.fixture(scope="session")
def bf16_archive(folder: Path) -> Path:
    """A convolution in BF16, whose CPU views are FLOAT32 and have to be converted."""
    weights = Value("w", [16, 16, 3, 3])
    nodes = [Node("Conv", ["x", "w"], ["y"])]
    content = model(
        nodes,
        [Value("x", [1, 16, 8, 8])],
        [Value("y", [1, 16, 6, 6])],
        constants={weights: [0.5] * (16 * 16 * 9)},
    )
    return compiled(folder, "bf16", content, "--precision", "bf16")


@pytest.fixture(scope="session")
def open_archive(folder: Path) -> Path:
    """doubled = x + x, whose rows are open."""
    nodes = [Node("Add", ["x", "x"], ["doubled"])]
    content = model(nodes, [Value("x", ["rows", 4])], [Value("doubled", ["rows", 4])])
    return compiled(folder, "open", content, "--input-shape", "x=?,4")


@pytest.fixture(scope="session")
def glyphs_archive(folder: Path) -> Path:
    """The network of the demo."""
    return compiled(folder, "glyphs", (ROOT / "models/glyphs/glyphs.onnx").read_bytes())
