#!/usr/bin/env python3
"""Writes what the samples take besides models into a tree that scripts/stage-board.sh lays out: raw input files
of zeros, and the configurations of the samples that read JSON; also those of the vendor's names below /etc/vai, as
stock_configs.py says. An input file that is there already stays if it fits the model, so that it may be replaced
by a real one.

usage: configure_board.py MILLRACE ROOT NAME..."""
import json
import pathlib
import subprocess
import sys

sys.dont_write_bytecode = True  # beside the scripts
import stock_configs  # noqa: E402

XCLBIN = "/run/media/mmcblk0p1/x_plus_ml.xclbin"
LAST_COLUMN = 32
COLUMNS_OF_A_MODEL = 4
PIXELS_OF_A_TEXT = 20


def inspect(millrace, root, name):
    """The model's path on the board, and its description."""
    folder = pathlib.Path("/etc/vai/models", name)
    model = folder / f"{name}.rai"
    staged = root / model.relative_to("/")
    command = [millrace, "inspect", "--json", staged if staged.exists() else staged.parent]
    description = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
    return str(model if staged.exists() else folder), description


def view_of(tensors):
    """The view of a side of a model: a tensor on a CPU partition has no HW view."""
    return "HW" if all("hw" in tensor for tensor in tensors) else "CPU"


def runner_options(description):
    return {
        "input-tensor-type": view_of(description["inputs"]),
        "output-tensor-type": view_of(description["outputs"]),
    }


def input_files(root, name, description):
    """The model's raw input files, a batch of rows of its view each: tensor name to path on the board."""
    view = view_of(description["inputs"]).lower()
    files = {}
    for tensor in description["inputs"]:
        path = data_folder(name) / (tensor["name"].replace("/", "-") + ".bin")
        make_rows(root / path.relative_to("/"), tensor[view]["bytes"], description["batch_size"])
        files[tensor["name"]] = str(path)
    return files


def data_folder(name):
    return pathlib.Path("/etc/vai/models", name, "data")


def make_rows(path, row_bytes, rows):
    path.parent.mkdir(parents=True, exist_ok=True)
    size = path.stat().st_size if path.exists() else 0
    if size == 0 or size % row_bytes != 0:
        path.write_bytes(bytes(row_bytes * rows))


def write_json(path, content):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content, indent=2) + "\n")


def write_vitisai_config(folder, model, description):
    """A directory that was given as the model may bring a configuration of its own."""
    path = folder / "vitisai_config.json"
    if model.endswith(".rai") or not path.exists():
        write_json(path, stock_configs.vitisai_config(description))


def ml_vart_config(model, description, files, name):
    return {
        "inference-config": {"model-file": model, "runner-options": runner_options(description)},
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


def x_plus_ml_entry(root, model, description, name, position):
    """Of a model that classifies pictures of three channels; None of any other."""
    options = runner_options(description)
    hint = description["inputs"][0].get("pictures", {})
    if "preprocess_hw" not in hint:
        options["input-tensor-type"] = "CPU"
    preprocess = hint.get("preprocess_" + options["input-tensor-type"].lower())
    # `millrace inspect` proposes to crop for classifiers only.
    if len(description["inputs"]) != 1 or preprocess is None or "resizing-type" not in preprocess:
        return None
    postprocess = {"type": "SOFTMAX", "topk": 2}
    labels = data_folder(name) / "imagenet-classes-1000.txt"
    if (root / labels.relative_to("/")).exists():
        postprocess["label-file-path"] = str(labels)
    return {
        "inference-config": {"model-file": model, "runner-options": options},
        "preprocess-config": preprocess,
        "postprocess-config": postprocess,
        "metaconvert-config": {"font-size": 0.5, "y-offset": PIXELS_OF_A_TEXT * position},
    }


def write_list(path, entries, content):
    """Writes the configuration of several models; without a model for it there is none, of an earlier run either."""
    if entries:
        write_json(path, content)
    else:
        path.unlink(missing_ok=True)


def main(millrace, root, *names):
    root = pathlib.Path(root)
    samples = root / "home/root/samples"
    several, classifiers, stock = [], [], []
    for name in names:
        model, description = inspect(millrace, root, name)
        files = input_files(root, name, description)
        write_vitisai_config(root / "etc/vai/models" / name, model, description)
        write_json(samples / "ml_vart" / f"{name}.json", ml_vart_config(model, description, files, name))
        # The samples of several models use HW views only.
        if set(runner_options(description).values()) == {"HW"}:
            several.append(entry_of_several(model, files, len(several)))
        stock.append(stock_configs.Model(name, model, description, data_folder(name), root))
        classifier = x_plus_ml_entry(root, model, description, name, len(classifiers))
        if classifier is not None:
            classifiers.append(classifier)
    for sample in ("vart_multi_tenancy", "vart_multimodel_seq"):
        write_list(samples / sample / "models.json", several, several)
    app = {"xclbin-location": XCLBIN, "device-index": 1, "models-config": classifiers}
    write_list(samples / "x_plus_ml" / "app.json", classifiers, app)
    for path, content in stock_configs.configurations(XCLBIN, stock):
        write_json(root / path, content)


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except subprocess.CalledProcessError as error:
        sys.exit(f"stage-board: {' '.join(map(str, error.cmd))} failed")
