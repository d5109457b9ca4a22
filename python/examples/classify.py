"""Reads held-back pictures of characters with the network of the demo, several jobs in flight.

    millrace compile models/glyphs/glyphs.onnx -o glyphs.rai
    python3 python/examples/classify.py glyphs.rai models/glyphs
"""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import millrace


def pictures(folder: Path, shape: Any) -> Iterator[npt.NDArray[np.float32]]:
    """Yields each picture as the network takes it: FLOAT32, from 0 to 1."""
    for picture in np.load(folder / "heldback_images.npy"):
        yield picture.reshape(shape).astype(np.float32) / np.float32(255)


def main(archive: str, folder: Path) -> None:
    model = millrace.load(archive)
    scores = model.map(pictures(folder, model.inputs[0].shape))
    read = np.array([frame.argmax() for frame in scores])
    labels = np.load(folder / "heldback_labels.npy")
    right = int((read == labels).sum())
    print(f"accuracy {right / len(labels):.2%} ({right} of {len(labels)} pictures)")


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
