"""The examples run, print what they say, and are typed (where mypy is installed)."""

import importlib.util
import os
import subprocess
import sys

import pytest

from conftest import ROOT

EXAMPLES = ROOT / "python/examples"


def run(name, *arguments, **environment):
    done = subprocess.run(
        [sys.executable, EXAMPLES / name, *map(str, arguments)],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_classify(glyphs_archive):
    assert "accuracy 99.83% (1198 of 1200 pictures)" in run(
        "classify.py", glyphs_archive, ROOT / "models/glyphs"
    )


def test_deadline_loop(glyphs_archive):
    assert "OK" in run("deadline_loop.py", glyphs_archive)
    assert "DROPPED" in run("deadline_loop.py", glyphs_archive, MILLRACE_FAULTS="slow=30ms")


def test_serve(glyphs_archive):
    assert "20 requests answered" in run("serve.py", glyphs_archive)


def test_zero_copy(glyphs_archive):
    assert "step 2: class" in run("zero_copy.py", glyphs_archive)


def test_ort_session(glyphs_archive):
    assert "tensor(float) [1, 1, 32, 32]" in run("ort_session.py", glyphs_archive)


def test_quantise():
    glyphs = ROOT / "models/glyphs"
    printed = run(
        "quantise.py",
        glyphs / "glyphs.onnx",
        glyphs / "heldback_images.npy",
        glyphs / "heldback_labels.npy",
    )
    assert "fp32: 99.83% right" in printed
    assert "us  Conv" in printed


def test_nrtpy_classify(glyphs_archive):
    printed = run("nrtpy_classify.py", glyphs_archive, ROOT / "models/glyphs/heldback_images.npy")
    assert "device: " in printed


@pytest.mark.skipif(importlib.util.find_spec("mypy") is None, reason="mypy is not installed")
def test_examples_and_package_are_typed(tmp_path):
    names = ["classify.py", "deadline_loop.py", "serve.py", "zero_copy.py"]
    names += ["ort_session.py", "quantise.py", "nrtpy_classify.py"]
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--cache-dir", tmp_path]
        + [EXAMPLES / name for name in names],
        env={**os.environ, "MYPYPATH": str(ROOT / "python")},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout
