#!/usr/bin/env python3
"""Writes what the samples take besides models into a tree that scripts/stage-board.sh lays out: raw input files
of zeros, and the configurations of the samples that read JSON. An input file that is there already stays if it
fits the model, so that it may be replaced by a real one.

usage: configure_board.py MILLRACE ROOT NAME..."""
import json
import pathlib
import subprocess
import sys

LAST_COLUMN = 32
COLUMNS_OF_A_MODEL = 4


def input_files(millrace, root, name):
    """The model's raw input files, a batch of rows of the HW view each: tensor name to path on the board."""
    folder = pathlib.Path("/etc/vai/models", name)
    model = folder / f"{name}.rai"
    staged = root / model.relative_to("/")
    inspect = [millrace, "inspect", "--json", staged if staged.exists() else staged.parent]
    description = json.loads(subprocess.run(inspect, check=True, stdout=subprocess.PIPE).stdout)
    files = {}
    for tensor in description["inputs"]:
        path = folder / "data" / (tensor["name"].replace("/", "-") + ".bin")
        row = tensor.get("hw", tensor["cpu"])["bytes"]
        make_rows(root / path.relative_to("/"), row, description["batch_size"])
        files[tensor["name"]] = str(path)
    return str(model if staged.exists() else folder), files


def make_rows(path, row_bytes, rows):
    path.parent.mkdir(parents=True, exist_ok=True)
    size = path.stat().st_size if path.exists() else 0
    if size == 0 or size % row_bytes != 0:
        path.write_bytes(bytes(row_bytes * rows))


def write_json(path, content):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content, indent=2) + "\n")


def ml_vart_config(model, files, name):
    return {
        "inference-config": {
            "model-file": model,
            "runner-options": {"input-tensor-type": "HW", "output-tensor-type": "HW"},
        },
        "ifms-config": [{"name": tensor, "file": file} for tensor, file in files.items()],
        "ofms-dir": f"output-{name}",
    }


def entry_of_several(model, files, position):
    return {
        "model_cache_path": model,
        "start_column": position * COLUMNS_OF_A_MODEL % (LAST_COLUMN + COLUMNS_OF_A_MODEL),
        "aie_columns_sharing": True,
        "ifm_node_file_map": files,
        "ofm_dir": "output",
    }


def main(millrace, root, *names):
    root = pathlib.Path(root)
    samples = root / "home/root/samples"
    several = []
    for name in names:
        model, files = input_files(millrace, root, name)
        write_json(samples / "ml_vart" / f"{name}.json", ml_vart_config(model, files, name))
        several.append(entry_of_several(model, files, len(several)))
    for sample in ("vart_multi_tenancy", "vart_multimodel_seq"):
        write_json(samples / sample / "models.json", several)


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except subprocess.CalledProcessError as error:
        sys.exit(f"stage-board: {' '.join(map(str, error.cmd))} failed")
