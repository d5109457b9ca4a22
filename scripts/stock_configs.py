"""The configurations that the vendor's samples for the board are delivered with, by name and key, for the models of a
staged tree: classifiers of pictures, and detectors whose one output lists YOLOX's boxes."""
import dataclasses
import pathlib

COLUMNS = 36
COLUMNS_OF_A_UNIT = 4

FOLDER = pathlib.Path("etc/vai")
STRIDES = (8, 16, 32)
VALUES_OF_A_BOX = 5  # x, y, width, height, and whether there is an object
KERNEL = {"kernel-name": "image_processing:{image_processing_1}", "in-mem-bank": 2, "out-mem-bank": 2}
IMAGENET = {
    "mean-r": 123.675, "mean-g": 116.28, "mean-b": 103.53,
    "scale-r": 0.017124, "scale-g": 0.017507, "scale-b": 0.017429,
    "maintain-aspect-ratio": True, "resizing-type": "PANSCAN",
}
PICTURE_ITSELF = {
    "mean-r": 0, "mean-g": 0, "mean-b": 0, "scale-r": 1.0, "scale-g": 1.0, "scale-b": 1.0,
    "maintain-aspect-ratio": False, "resizing-type": "LETTERBOX",
}
OVERLAY = {
    "font-size": 0.5, "font": 3, "thickness": 2, "y-offset": 0,
    "label-color": [{"level": 1, "red": 0, "green": 255, "blue": 0}],
}


def yolox_grids(description):
    """[height, width] for each stride of a detector of pictures; empty for any other model."""
    inputs, outputs = description["inputs"], description["outputs"]
    if len(inputs) != 1 or "pictures" not in inputs[0] or len(outputs) != 1:
        return []
    shape = outputs[0]["cpu"]["shape"]
    if len(shape) != 3:
        return []
    height, width = inputs[0]["cpu"]["shape"][2:]
    grids = [[height // stride, width // stride] for stride in STRIDES]
    is_list = shape[1] == sum(rows * columns for rows, columns in grids) and shape[2] > VALUES_OF_A_BOX
    return grids if is_list else []


@dataclasses.dataclass
class Model:
    name: str
    path: str  # on the board
    description: dict  # of `millrace inspect --json`
    data: pathlib.Path  # the folder of its data on the board
    root: pathlib.Path  # of the tree

    def picture(self):
        """The only input, if it is a picture of three channels that is fed as RGBx or in a form alike."""
        inputs = self.description["inputs"]
        is_picture = len(inputs) == 1 and "preprocess_hw" in inputs[0].get("pictures", {})
        return inputs[0] if is_picture else None

    def only_output(self):
        outputs = self.description["outputs"]
        return outputs[0] if len(outputs) == 1 and "hw" in outputs[0] else None

    def is_classifier(self):
        # `millrace inspect` proposes to crop for classifiers only.
        picture = self.picture()
        return picture is not None and self.only_output() is not None and \
            "resizing-type" in picture["pictures"]["preprocess_hw"]

    def grids(self):
        has_views = self.picture() is not None and self.only_output() is not None
        return yolox_grids(self.description) if has_views else []

    def columns(self):
        return self.description["columns"]

    def labels(self, name):
        path = self.data / name
        return {"label-file-path": str(path)} if (self.root / path.relative_to("/")).exists() else {}


def input_file(model):
    """The model's input file under the vendor's name, ifm_<tensor>_<type>_1x<height>x<width>x<lanes>.bin: another
    name of the rows that TENSOR.bin holds."""
    tensor = model.picture()
    height, _, width, _, lanes = tensor["hw"]["shape"]
    name = tensor["name"].replace("/", "-")
    link = model.data / f"ifm_{name}_{tensor['hw']['type'].lower()}_1x{height}x{width}x{lanes}.bin"
    staged = model.root / link.relative_to("/")
    staged.unlink(missing_ok=True)
    staged.symlink_to(f"{name}.bin")
    return {"name": tensor["name"], "file": str(link)}


def inference(model):
    return {"model-file": model.path, "runner-options": {"log-level": "WARNING"}}


def classifier(model):
    return {
        "preprocess-config": {**KERNEL, **IMAGENET, "colour-format": colour_format(model)},
        "inference-config": inference(model),
        "ifms-config": [{"name": model.picture()["name"], "file": str(model.data / "classification.jpg")}],
        "postprocess-config": {"type": "SOFTMAX", "topk": 1, **model.labels("imagenet-classes-1000.txt"),
                               "post-process-print": "false"},
        "metaconvert-config": OVERLAY,
    }


def detector(model):
    return {
        "preprocess-config": {**KERNEL, **PICTURE_ITSELF, "colour-format": colour_format(model)},
        "inference-config": inference(model),
        "ifms-config": [{"name": model.picture()["name"], "file": str(model.data / "detections.jpg")}],
        "postprocess-config": {
            "type": "NMS", "topk": 1, **model.labels("coco_data_labels.txt"), "post-process-print": "false",
            "nms-threshold": 0.4, "conf-threshold": 0.5,
            "model-params": {
                "is-obj-score-included": "true", "grid-shape": model.grids(), "num-anchorboxes": [], "anchors": [],
                "is-scaling-required": "true", "input-layout": ["HCWNC4"], "output-layout": ["NHC"],
            },
        },
        "metaconvert-config": OVERLAY,
    }


def inference_only(model):
    return {"inference-config": inference(model), "ifms-config": [input_file(model)]}


def tenant(model, start_column, sharing):
    ifm = input_file(model)
    return {
        "model_cache_path": model.path, "start_column": start_column, "aie_columns_sharing": sharing,
        "ifm_node_file_map": {ifm["name"]: ifm["file"]}, "ofm_dir": "./",
    }


def in_turn(models):
    """The models that occupy as many columns take turns on them."""
    starts, end = {}, 0
    for model in models:
        if model.columns() not in starts:
            starts[model.columns()] = end
            end += model.columns()
    return [tenant(model, starts[model.columns()], True) for model in models], end


def side_by_side(models, start):
    """Each model has columns of its own, as long as there are any."""
    entries = []
    for model in models:
        if start + model.columns() <= COLUMNS:
            entries.append(tenant(model, start, False))
            start += model.columns()
    return entries


def tenancies(models):
    """Pairs of a file and its content, for the samples that run several models: at least two, of one model twice."""
    several = (models * 2)[:max(2, len(models))]
    shared, end = in_turn(several)
    tenancy = FOLDER / "vart_multi_tenancy" / "json_configs"
    yield tenancy / "temporal_config.json", shared
    yield tenancy / "spatial_config.json", side_by_side(several, 0)
    yield tenancy / "temporal_spatial_config.json", shared + side_by_side(several[-1:], end)
    yield FOLDER / "vart_multimodel_seq" / "json_configs" / "config.json", shared


def vitisai_config(description):
    """What the vendor's compiler would be told for this model."""
    frames = description["batch_size"]
    units = description["columns"] // COLUMNS_OF_A_UNIT
    vaiml = {"device": "ve2-xc2ve3858", "logging_level": "info", "dp_size": frames,
             "tp_size": max(1, units // frames)}
    return {
        "passes": [
            {"name": "init", "plugin": "vaip-pass_init"},
            {"name": "vaiml_partition", "plugin": "vaip-pass_vaiml_partition", "vaiml_config": vaiml},
        ],
        "target": "VAIML", "targets": [{"name": "VAIML", "pass": ["init", "vaiml_partition"]}],
    }


def colour_format(model):
    return model.picture()["pictures"]["preprocess_hw"]["colour-format"]


def application(xclbin, configs, preprocess=True):
    return {
        "xclbin-location": xclbin, "device-index": 1, "preprocess-en": preprocess,
        "models-config": [{"config-path": f"/{path}"} for path in configs],
    }


def configurations(xclbin, models):
    """Pairs of a path in the tree and its content."""
    folder = FOLDER / "x_plus_ml_vart" / "json_configs"
    classifiers = [model for model in models if model.is_classifier()]
    detectors = [model for model in models if model.grids()]
    one = [(folder / f"{model.name}_postproc.json", classifier(model)) for model in classifiers]
    boxes = [(folder / f"{model.name}_nms.json", detector(model)) for model in detectors]
    pictures = classifiers + [model for model in detectors if model not in classifiers]
    raw = [(folder / f"{model.name}_inference_only.json", inference_only(model)) for model in pictures]
    yield from one + boxes + raw
    if one:
        ifm = {"inference-config": {**inference(classifiers[0])}, "ifms-config": [input_file(classifiers[0])],
               "ofms-dir": "output"}
        yield FOLDER / "ml_vart" / "json_configs" / "ml_vart_config.json", ifm
        yield folder / "x_plus_ml_vart_1model.json", application(xclbin, [one[0][0]])
    if boxes:
        yield folder / "x_plus_ml_vart_od.json", application(xclbin, [boxes[0][0]])
    if raw:
        yield folder / "x_plus_ml_vart_inference_only.json", application(xclbin, [raw[0][0]], preprocess=False)
        yield from tenancies(pictures)
    if one and boxes:
        yield folder / "x_plus_ml_vart_2models.json", application(xclbin, [one[0][0], boxes[0][0]])
