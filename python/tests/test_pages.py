"""The Python that pages of the documentation show runs, with the files and names that it expects."""

import ast
import asyncio
import inspect
import re

import numpy as np
import pytest

import millrace
from conftest import ROOT, compiled
from tiny_onnx import Node, Value, model

BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SIDE = 224


def write_picture(path):
    """Writes a picture in the format PPM, which is known by its content and not by its name."""
    pixels = np.arange(SIDE * SIDE * 3, dtype=np.uint8)
    path.write_bytes(b"P6 %d %d 255\n" % (SIDE, SIDE) + pixels.tobytes())


def write_net(folder):
    """Writes a classifier of pictures with three channels."""
    nodes = [
        Node("Conv", ["image", "w"], ["features"]),
        Node("GlobalAveragePool", ["features"], ["means"]),
        Node("Flatten", ["means"], ["scores"]),
    ]
    weights = np.random.default_rng(1).standard_normal(8 * 3 * 3 * 3).tolist()
    content = model(
        nodes,
        [Value("image", [1, 3, SIDE, SIDE])],
        [Value("scores", [1, 8])],
        constants={Value("w", [8, 3, 3, 3]): weights},
    )
    compiled(folder, "net", content)


@pytest.fixture
def names(tmp_path, monkeypatch, glyphs_archive):
    """The names that blocks use and do not define, in a folder with the files that they read."""
    monkeypatch.chdir(tmp_path)
    for name in ("glyphs.rai", "model.rai"):
        (tmp_path / name).symlink_to(glyphs_archive)
    for name in ("glyphs.onnx", "model.onnx"):
        (tmp_path / name).symlink_to(ROOT / "models/glyphs/glyphs.onnx")
    write_net(tmp_path)
    write_picture(tmp_path / "photo.jpg")
    (tmp_path / "photos").mkdir()
    write_picture(tmp_path / "photos/one.ppm")
    images = np.random.default_rng(2).standard_normal((3, 1, 3, SIDE, SIDE), np.float32)
    for index, image in enumerate(images):
        np.save(tmp_path / f"{index}.npy", image)
    picture = np.zeros((1, 1, 32, 32), np.float32)
    return {
        "asyncio": asyncio,
        "images": images,
        "labels": np.array([0, 1, 2]),
        "millrace": millrace,
        "model": millrace.load("glyphs.rai"),
        "np": np,
        "paths": [f"{index}.npy" for index in range(3)],
        "picture": picture,
        "pictures": lambda: [picture] * 3,
        "pytest": pytest,
        "x": picture,
    }


def run_block(source, names):
    """Runs a block, in which `await` may stand outside of functions."""
    code = compile(source, "page", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    result = eval(code, names)  # noqa: S307
    if inspect.iscoroutine(result):
        asyncio.run(result)


@pytest.mark.parametrize(
    "page", ["README", "docs/deadlines", "docs/onnxruntime", "docs/python", "docs/python-compiler"]
)
def test_blocks_run(page, names, monkeypatch):
    blocks = BLOCK.findall((ROOT / f"{page}.md").read_text(encoding="utf-8"))
    assert blocks
    for source in blocks:
        is_of_net = '"net.rai"' in source
        run_block(source, {**names, "model": millrace.load("net.rai")} if is_of_net else names)
        if "answer" in names:
            assert asyncio.run(names.pop("answer")(names["model"], names["picture"])) >= 0
        test = names.pop("test_the_program_survives_a_failure", None)
        if test:
            with monkeypatch.context() as environment:
                test(environment)
