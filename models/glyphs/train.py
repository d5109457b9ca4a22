#!/usr/bin/env python3
"""Renders the characters, trains the classifier and writes all files of this folder.

    OPENBLAS_NUM_THREADS=1 python3 train.py

Everything random derives from --seed.  The same seed gives the same pictures and,
with the same numpy, BLAS and processor kind, the same weights.
"""

import argparse
import math
import os
import time
from collections import Counter

import numpy as np
import onnx

import export
import fonts
import render
from network import FLOAT, Network

# Independent random streams, so that for example a longer training leaves the
# measured pictures as they are.
WEIGHTS, VALIDATION, HELDBACK, EPOCHS = range(4)

VALIDATION_PER_FAMILY = 6  # pictures per class and family
HELDBACK_PER_FAMILY = 3
CALIBRATION_STEP = 30      # every so many validation pictures are kept for calibration

WEIGHT_DECAY = 5e-4
MOMENTUM = 0.9
SMOOTHING = 0.05    # of the target distribution; keeps the scores moderate
WARM_UP_STEPS = 300


def stream(seed, *which):
    return np.random.default_rng([seed, *which])


def loss_and_gradient(scores, labels):
    """Mean cross entropy against smoothed labels, and its gradient."""
    rows = np.arange(len(labels))
    shifted = scores - scores.max(axis=1, keepdims=True)
    log_probability = shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))
    target = np.full(scores.shape, SMOOTHING / scores.shape[1], FLOAT)
    target[rows, labels] += 1 - SMOOTHING
    loss = -(target * log_probability).sum(axis=1).mean()
    return loss, (np.exp(log_probability) - target) / FLOAT(len(labels))


class Descent:
    """Stochastic gradient descent with Nesterov momentum, in place."""

    def __init__(self, network):
        self.layers = network.flat_layers()
        self.velocity = [{k: np.zeros_like(v) for k, v in layer.parameters.items()}
                         for layer in self.layers]

    def step(self, rate):
        for layer, velocity in zip(self.layers, self.velocity):
            for name, value in layer.parameters.items():
                gradient = layer.gradients[name]
                if name == "weight":  # decaying scales and biases only costs accuracy
                    gradient = gradient + FLOAT(WEIGHT_DECAY) * value
                velocity[name] *= FLOAT(MOMENTUM)
                velocity[name] += gradient
                value -= FLOAT(rate) * (gradient + FLOAT(MOMENTUM) * velocity[name])


def rate_at(step, steps, peak):
    """Linear warm-up, then half a cosine down to zero."""
    if step < WARM_UP_STEPS:
        return peak * (step + 1) / WARM_UP_STEPS
    return peak * 0.5 * (1 + math.cos(math.pi * step / steps))


def scores_of(network, pictures, batch=256):
    return np.concatenate([network.forward(pictures[i:i + batch])
                           for i in range(0, len(pictures), batch)])


def train(network, glyphs, validation, options):
    """Trains in place and leaves the network at its best epoch on `validation`.

    The best epoch is the one with the lowest loss: on a nearly solved set, the
    loss still distinguishes epochs when the accuracy moves by single pictures.
    """
    pictures, labels, _ = validation
    descent = Descent(network)
    batches = options.pictures // options.batch
    best_loss, best_state = math.inf, None
    for epoch in range(options.epochs):
        start = time.monotonic()
        x, y = render.random_set(glyphs, batches * options.batch, render.TRAINING,
                                 stream(options.seed, EPOCHS, epoch))
        total = 0.0
        for i in range(batches):
            part = slice(i * options.batch, (i + 1) * options.batch)
            loss, gradient = loss_and_gradient(network.forward(x[part], training=True), y[part])
            network.backward(gradient)
            descent.step(rate_at(epoch * batches + i, options.epochs * batches, options.rate))
            total += float(loss)
        scores = scores_of(network, pictures)
        loss, _ = loss_and_gradient(scores, labels)
        print(f"epoch {epoch + 1:2}/{options.epochs}: training loss {total / batches:.4f}, "
              f"validation loss {loss:.4f}, accuracy {accuracy(scores, labels):.2%}, "
              f"{time.monotonic() - start:.0f} s", flush=True)
        if loss < best_loss:
            best_loss, best_state = loss, network.state()
    network.load_state(best_state)


def accuracy(scores, labels):
    return float((scores.argmax(axis=1) == labels).mean())


def report(title, scores, pictures_labels_families, families):
    _, labels, family_of = pictures_labels_families
    right = scores.argmax(axis=1) == labels
    print(f"{title}: {right.sum()} of {len(labels)} right, {right.mean():.2%}")
    for i, family in enumerate(families):
        print(f"    {family.name:16} {right[family_of == i].mean():.2%}")
    mistakes = Counter((render.CLASSES[t], render.CLASSES[p])
                       for t, p in zip(labels[~right], scores.argmax(axis=1)[~right]))
    print("    mistakes:", ", ".join(f"{t} read as {p}: {n}"
                                     for (t, p), n in mistakes.most_common(12)) or "none")


def write_files(folder, network, validation, heldback):
    pictures, labels, _ = heldback
    onnx.save(export.to_onnx(network, len(render.CLASSES)), os.path.join(folder, "glyphs.onnx"))
    np.save(os.path.join(folder, "calibration_images.npy"), validation[0][::CALIBRATION_STEP])
    np.save(os.path.join(folder, "heldback_images.npy"), pictures)
    np.save(os.path.join(folder, "heldback_labels.npy"), labels)
    with open(os.path.join(folder, "classes.txt"), "w", encoding="ascii") as file:
        file.writelines(f"{name}\n" for name in render.CLASSES)


def parse_options():
    parser = argparse.ArgumentParser(
        description="Train the character classifier and write glyphs.onnx, classes.txt, "
                    "pictures for calibration and the held-back pictures.",
        epilog="README.md lists the Debian packages with the fonts.")
    parser.add_argument("--out", default=os.path.dirname(os.path.abspath(__file__)),
                        help="folder to write to (default: the script's own)")
    parser.add_argument("--fonts", nargs="+", default=fonts.FONT_FOLDERS, metavar="FOLDER",
                        help="folders searched for fonts (default: %(default)s)")
    parser.add_argument("--epochs", type=int, default=20,
                        help="passes over --pictures pictures (default: %(default)s)")
    parser.add_argument("--pictures", type=int, default=40000,
                        help="freshly rendered pictures per epoch (default: %(default)s)")
    parser.add_argument("--batch", type=int, default=64,
                        help="pictures per step (default: %(default)s)")
    parser.add_argument("--rate", type=float, default=0.08,
                        help="highest learning rate (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1,
                        help="everything random derives from it (default: %(default)s)")
    return parser.parse_args()


def main():
    options = parse_options()
    index = fonts.index_fonts(options.fonts)

    def glyphs_of(families):
        return render.load_glyphs(families, index)

    training = glyphs_of(fonts.TRAINING)
    validation = render.balanced_set(glyphs_of(fonts.VALIDATION), VALIDATION_PER_FAMILY,
                                     render.MEASURING, stream(options.seed, VALIDATION))
    network = Network(len(render.CLASSES), stream(options.seed, WEIGHTS))
    print(f"{len(render.CLASSES)} classes, {len(training)} training families with "
          f"{sum(map(len, training))} faces, {network.parameter_count()} parameters, "
          f"{2 * network.multiply_adds() / 1e6:.1f} MFLOP per picture", flush=True)
    train(network, training, validation, options)
    report("validation", scores_of(network, validation[0]), validation, fonts.VALIDATION)

    # Only now are the held-back fonts opened: nothing above can depend on them.
    heldback = render.balanced_set(glyphs_of(fonts.HELDBACK), HELDBACK_PER_FAMILY,
                                   render.MEASURING, stream(options.seed, HELDBACK))
    report("held-back", scores_of(network, heldback[0]), heldback, fonts.HELDBACK)
    write_files(options.out, network, validation, heldback)


if __name__ == "__main__":
    main()
