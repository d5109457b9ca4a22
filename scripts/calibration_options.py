#!/usr/bin/env python3
"""Prints the options with which scripts/stage-board.sh has `millrace compile` quantise a model as the board's INT8
models are: the preprocessing of pictures that `millrace inspect` proposes, or that of YOLOX, unless OPTION... states one,
and outputs of integers for a classifier, whose scores they do not hurt.

usage: calibration_options.py MILLRACE ARCHIVE [OPTION...]"""
import json
import subprocess
import sys

sys.dont_write_bytecode = True  # beside the scripts
import stock_configs  # noqa: E402

OF_PICTURES = {"--mean", "--scale", "--std", "--normalize", "--order", "--resize", "--short-side"}


def main(millrace, archive, *options):
    command = [millrace, "inspect", "--json", archive]
    description = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
    pictures = description["inputs"][0].get("pictures", {}) if len(description["inputs"]) == 1 else {}
    proposed = pictures.get("run_options", "").split()
    if stock_configs.yolox_grids(description):  # which takes pictures as they are
        proposed = ["--normalize", "none"]
    if OF_PICTURES.intersection(options):
        proposed = []
    # `millrace inspect` proposes to crop for classifiers only.
    is_classifier = "resizing-type" in pictures.get("preprocess_cpu", {})
    if is_classifier and "--quantise-outputs" not in options:
        proposed.append("--quantise-outputs")
    print(*proposed)


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except subprocess.CalledProcessError as error:
        sys.exit(f"stage-board: {' '.join(map(str, error.cmd))} failed")
