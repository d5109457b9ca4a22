"""Quantises a classifier, says what that costs, and which layers and operators matter.

    quantise.py NETWORK.onnx IMAGES.npy LABELS.npy [OUTPUT.rai]

IMAGES are UINT8 pictures [N,H,W] or [N,H,W,C], whose pixels the network takes as 0 to 1; every
tenth calibrates it. LABELS are their classes.
"""

from __future__ import annotations

import argparse

import numpy as np

import millrace


def main() -> None:
    parser = argparse.ArgumentParser(description="Quantises a classifier and measures the loss.")
    parser.add_argument("network")
    parser.add_argument("images")
    parser.add_argument("labels")
    parser.add_argument("output", nargs="?", help="the archive to write")
    arguments = parser.parse_args()

    images, labels = np.load(arguments.images), np.load(arguments.labels)
    exact = millrace.compile(arguments.network)
    small = millrace.quantise(
        arguments.network, images[::10], arguments.output, scale=1 / 255, accuracy_target="1%"
    )
    report = small.report
    assert report is not None
    print(f"weights: {report.bytes_before} -> {report.bytes_after} bytes")
    print(f"outputs: mean cosine {report.mean_cosine:.5f}, worst {report.worst_cosine:.5f}")
    for layer in report.layers:
        if layer.is_kept:
            print(f"kept in {layer.precision}: {layer.name}")

    scores = millrace.evaluate(exact, images, labels, against=[small], scale=1 / 255)
    for name, score in zip(("fp32", "int8"), scores.models):
        print(f"{name}: {score.top1:.2%} right")
    for operation, microseconds in millrace.profile(small).by_operation().items():
        print(f"{microseconds:8.1f} us  {operation}")


if __name__ == "__main__":
    main()
