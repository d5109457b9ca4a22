#!/usr/bin/env python3
"""Checks that every #include of the project points downwards.

The layers and what each may include are the table below; docs/design.md explains them. An include of
the project's own that points up, sideways between faces, or from a public header to a private one is
an error, and so is a cycle of includes within a folder of ONE_WAY. Exit status 1 when there is one.
"""
import graphlib
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent

# Folder below src/ or include/, or of python/ -> the folders its files may include besides themselves. A file belongs
# to the deepest folder of the table that it is in.
#
# Four headers of the native API hold types that every layer shares.
SHARED_TYPES = "public/millrace shared types"
SHARED_TYPE_HEADERS = {"millrace/status.hpp", "millrace/execution.hpp", "millrace/statistics.hpp",
                       "millrace/tensor.hpp"}
# The C header by which libraries offer software kernels.
KERNEL_LIBRARIES = "public/millrace kernels"
KERNEL_LIBRARY_HEADER = "millrace/pl_kernel.h"
BASE = {"base", SHARED_TYPES}
# The folders of the queue, of the NRT face and of the CPU device, from top to bottom: each may include
# those below it.
QUEUE_FOLDERS = ["units", "lanes", "requests", "callbacks", "waiting"]
NRT_FOLDERS = ["calls", "process", "sendrecv", "recording", "requests", "trace", "objects", "counters", "terms"]
DEVICE_CPU_FOLDERS = [
    "program", "plan", "accelerated", "ranks", "kernels", "builder", "weights", "reorders", "steps", "dnnl",
    "reserve", "capabilities",
]
# What the CPU device can run, which is known without its plugin.
CPU_CAPABILITIES = "device/cpu/capabilities"
QUEUE = {f"queue/{folder}" for folder in QUEUE_FOLDERS}
CORE = (
    BASE
    | {"tensor", "memory", "model", "graph", "fallback", "lowering", "ranks", "live", "timeline"}
    | {"check", "record", "device"}
    | QUEUE
)
MAY_INCLUDE = {
    "base": {SHARED_TYPES},
    "tensor": BASE,
    "memory": BASE,
    "pl": BASE | {"memory", KERNEL_LIBRARIES},
    "model": BASE,
    "graph": BASE | {"tensor", "model"},
    "fallback": BASE | {"tensor", "graph"},
    "lowering": BASE | {"tensor", "graph", "fallback"},
    "ranks": BASE | {"tensor"},
    **{
        f"queue/{folder}": BASE | {f"queue/{low}" for low in QUEUE_FOLDERS[i:]}
        for i, folder in enumerate(QUEUE_FOLDERS)
    },
    "live": BASE | {"memory"} | QUEUE,
    "timeline": BASE | {"model", "queue/requests"},
    "check": BASE | {"memory", "model", "queue/requests"},
    "record": BASE | {"model", "queue/requests"},
    "device": BASE
    | {"tensor", "memory", "model", "graph", "lowering", "ranks", "timeline", "check", "record"}
    | QUEUE
    | {CPU_CAPABILITIES},
    "device/cpu": CORE | {f"device/cpu/{folder}" for folder in DEVICE_CPU_FOLDERS},
    **{
        f"device/cpu/{folder}": CORE | {f"device/cpu/{low}" for low in DEVICE_CPU_FOLDERS[i:]}
        for i, folder in enumerate(DEVICE_CPU_FOLDERS)
    },
    CPU_CAPABILITIES: BASE | {"tensor", "graph"},
    "runtime": CORE,
    "api": CORE | {"runtime", "public/millrace"},
    "vision/postprocess": BASE | {"tensor"},
    "vart": CORE | {"runtime", "public/vart"},
    "vartx": CORE
    | {"pl", "io", "vision/postprocess", "vision/preprocess", KERNEL_LIBRARIES}
    | {"public/vart"},
    "xrt": BASE | {"memory", "pl", KERNEL_LIBRARIES, "public/xrt"},
    **{
        f"nrt/{folder}": CORE | {"runtime", "public/nrt"} | {f"nrt/{low}" for low in NRT_FOLDERS[i:]}
        for i, folder in enumerate(NRT_FOLDERS)
    },
    "vision/preprocess": BASE | {"tensor"},
    "compiler": BASE | {"tensor", "model", "graph", "fallback", "lowering", CPU_CAPABILITIES},
    "quantise": CORE | {"runtime", CPU_CAPABILITIES},
    "io": BASE | {"tensor", "model", "vision/preprocess"},
    # A client of the native API, besides what compiles .onnx files.
    "serve": BASE | {"model", "graph", "compiler", "io", "vision/preprocess", "public/millrace"},
    "cli": CORE
    | {"runtime", "compiler", "quantise", "io", "serve", "vision/preprocess", "vision/postprocess", CPU_CAPABILITIES}
    | {"public/millrace", "public/nrt"},
    # The module of the native API sees the public headers only.
    "python/core": {"public/millrace", SHARED_TYPES},
    "python/compiler": CORE
    | {"runtime", "compiler", "quantise", "io", "cli", "vision/preprocess", CPU_CAPABILITIES}
    | {"public/millrace"},
    "public/vart": {"public/xrt"},
    "public/nrt": set(),
    "public/xrt": set(),
    "public/millrace": {SHARED_TYPES},
    SHARED_TYPES: set(),
    KERNEL_LIBRARIES: set(),
}
# Folders whose files include each other one way only; a header and the source of the same name count
# as one file.
ONE_WAY = ["compiler", "device/cpu", "lowering", "nrt", "runtime", "serve"]
INCLUDE = re.compile(r'^\s*#\s*include\s*["<]([^">]+)[">]')


def layer_of(path: str) -> str | None:
    """The layer a project path (relative to src/ or include/) belongs to, None for a foreign one."""
    parts = path.split("/")
    if path in SHARED_TYPE_HEADERS:
        return SHARED_TYPES
    if path == KERNEL_LIBRARY_HEADER:
        return KERNEL_LIBRARIES
    if parts[0] in ("millrace", "vart") and path.endswith(".hpp"):
        return "public/" + parts[0]
    if parts[0] in ("nrt", "ndl") and (ROOT / "include" / path).is_file():
        return "public/nrt"
    if parts[0] in ("xrt", "experimental") and (ROOT / "include" / path).is_file():
        return "public/xrt"
    folders = ("/".join(parts[:depth]) for depth in range(len(parts) - 1, 0, -1))
    return next((folder for folder in folders if folder in MAY_INCLUDE), None)


def violations(root: pathlib.Path, prefix: str):
    for file in sorted(root.rglob("*")):
        if file.suffix not in {".h", ".hpp", ".cpp"}:
            continue
        own = layer_of(prefix + file.relative_to(root).as_posix())
        if own is None:
            yield f"{file}: belongs to no layer of scripts/check_layers.py"
            continue
        for number, line in enumerate(file.read_text().splitlines(), 1):
            match = INCLUDE.match(line)
            target = layer_of(match.group(1)) if match else None
            if target is None or target == own or target in MAY_INCLUDE[own]:
                continue
            yield f"{file.relative_to(ROOT)}:{number}: {own} must not include {target}"


def cycles(folder: str):
    """A line for a cycle of includes among the files of a folder below src/, if there is one."""
    included = {}
    for file in (ROOT / "src" / folder).rglob("*.[hc]*"):
        own = file.relative_to(ROOT / "src").with_suffix("").as_posix()
        matches = filter(None, map(INCLUDE.match, file.read_text().splitlines()))
        paths = {pathlib.PurePath(match.group(1)).with_suffix("").as_posix() for match in matches}
        included.setdefault(own, set()).update(paths - {own})
    try:
        graphlib.TopologicalSorter(included).prepare()
    except graphlib.CycleError as error:
        yield "src/" + folder + ": a cycle of includes: " + " <- ".join(error.args[1])


def main() -> int:
    found = list(violations(ROOT / "src", "")) + list(violations(ROOT / "include", ""))
    found += violations(ROOT / "python", "python/")
    for folder in ONE_WAY:
        found += cycles(folder)
    print("\n".join(found) if found else "layers: every include points downwards")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
