"""One set of arrays for all jobs, without a copy between the program and the device.

    python3 python/examples/zero_copy.py glyphs.rai
"""

import sys

import numpy as np

import millrace


def main(archive: str) -> None:
    model = millrace.load(archive)
    (image,), (scores,) = model.inputs, model.outputs
    memory = np.zeros(image.shape, image.dtype)
    result = np.empty(scores.shape, scores.dtype)
    for step in range(3):
        memory[...] = step / 3
        job = model.submit(memory, result, strict_zero_copy=True)
        assert job.result() is result
        print(f"step {step}: class {result.argmax()}, {job.conversions[1]} bytes converted")


if __name__ == "__main__":
    main(sys.argv[1])
