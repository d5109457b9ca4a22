"""A program for onnxruntime, with another import.

    python3 python/examples/ort_session.py glyphs.rai
"""

import sys

import numpy as np

import millrace.ort as ort


def main(path: str) -> None:
    session = ort.InferenceSession(path, providers=["CPUExecutionProvider"])
    image = session.get_inputs()[0]
    print(f"{image.name}: {image.type} {image.shape}")
    x = np.zeros([1 if size is None else size for size in image.shape], np.float32)
    (scores,) = session.run(None, {image.name: x})
    print(f"class {scores.argmax()}")


if __name__ == "__main__":
    main(sys.argv[1])
