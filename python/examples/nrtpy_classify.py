"""Classifies pictures with nrtpy, and times the core and the calls.

    nrtpy_classify.py ARCHIVE.rai IMAGES.npy

IMAGES are UINT8 pictures [N,H,W] or [N,H,W,C], whose pixels the network takes as 0 to 1, channels
first.
"""

from __future__ import annotations

import argparse

import numpy as np

from nrtpy import NrtpyModel, NrtpyTensor


def main() -> None:
    parser = argparse.ArgumentParser(description="Classifies pictures with nrtpy.")
    parser.add_argument("archive")
    parser.add_argument("images")
    arguments = parser.parse_args()

    model = NrtpyModel.load_from_neff(arguments.archive)
    (input_name, info), = model.input_tensors_info.items()
    (output_name,) = model.output_tensors_info

    images = np.load(arguments.images).astype(np.float32) / np.float32(255)
    frames = np.moveaxis(images, 3, 1) if images.ndim == 4 else images
    frames = frames.reshape(-1, *info.shape)
    tensor = NrtpyTensor.from_numpy(frames[0], name=input_name)
    for frame in frames:
        tensor.write_from_numpy(frame)
        outputs = model(inputs={input_name: tensor})
        assert outputs is not None
        print(int(outputs[output_name].numpy().argmax()))

    for mode in ("device", "host"):
        stats = model.benchmark({input_name: tensor}, benchmark_iter=100, mode=mode)
        print(f"{mode}: {stats.mean_ms:.3f} ms, at least {stats.min_ms:.3f} ms")


if __name__ == "__main__":
    main()
