#!/usr/bin/env python3
"""Measures the kernels of typical convolutions on one core of this processor, and writes the table of an instruction
set that the CPU device ships (src/device/cpu/plan/table, docs/performance/convolutions.md):

    scripts/measure-kernels.py avx512 >src/device/cpu/plan/table/avx512.txt

The instruction sets are avx2 and avx512, for FP32, and avx512_bf16 and amx, for BF16, each without what comes behind
it. Best on a processor with nothing else to do; it takes a minute or two.

usage: measure-kernels.py ISA [MILLRACE]     the program, build/release/bin/millrace"""
import collections
import os
import re
import subprocess
import sys
import tempfile

PRECISIONS = {"avx2": "fp32", "avx512": "fp32", "avx512_bf16": "bf16", "amx": "bf16"}
SIDES = (7, 14, 28, 56, 112)
# Larger ones say nothing new, and what a model has is in memory together.
MOST_PRODUCTS, LEAST_PRODUCTS, MOST_ELEMENTS, MODEL_FLOATS = 160e6, 0.4e6, 4.2e6, 8e6

Layer = collections.namedtuple("Layer", "taps stride channels_in channels_out side group")


def products(layer):
    return layer.taps**2 * layer.channels_in * layer.channels_out // layer.group * layer.side**2


def dense(taps, stride, widths, most_ratio):
    for channels_in in widths:
        for channels_out in widths:
            ratio = max(channels_in / channels_out, channels_out / channels_in)
            if channels_in % 16 == channels_out % 16 and ratio <= most_ratio:
                for side in SIDES:
                    yield Layer(taps, stride, channels_in, channels_out, side, 1)


def depthwise(taps, stride, widths):
    for channels in widths:
        for side in SIDES:
            yield Layer(taps, stride, channels, channels, side, channels)


def layers():
    """The side of a layer is that of its result."""
    powers = (16, 32, 64, 128, 256, 512)
    found = [*dense(1, 1, (*powers, 1024), 8), *dense(1, 1, (24, 40, 72, 120), 8), *dense(1, 2, powers[2:], 2),
             *dense(3, 1, powers, 4), *dense(3, 1, (24, 56), 4), *dense(3, 2, powers, 2), *dense(5, 1, (16, 64), 1),
             *dense(5, 1, (12, 24), 2)]
    for taps in (3, 5):
        for stride in (1, 2):
            found += depthwise(taps, stride, (16, 64, 256, 1024, 24, 72))
    return [each for each in found if LEAST_PRODUCTS / each.group**0.5 < products(each) < MOST_PRODUCTS and
            each.channels_in * (each.side * each.stride)**2 < MOST_ELEMENTS]


def pairs():
    """A convolution of one pixel, and the depthwise one of 3x3 taps behind it; sides are those of the result."""
    for stride in (1, 2):
        for channels_in in (16, 32, 64, 128):
            for ratio in (1, 2, 4, 6):
                for side in SIDES:
                    first = Layer(1, 1, channels_in, channels_in * ratio, side * stride, 1)
                    if LEAST_PRODUCTS < products(first) < MOST_PRODUCTS / 2:
                        yield first, Layer(3, stride, first.channels_out, first.channels_out, side, first.channels_out)


# Just enough of the encoding of protocol buffers to write a model; numbers of fields are those of onnx.proto.
def varint(value):
    encoded = b""
    while value >= 0x80:
        encoded += bytes([value & 0x7F | 0x80])
        value >>= 7
    return encoded + bytes([value])


def number(field, value):
    return varint(field << 3) + varint(value)


def content(field, value):
    value = value if isinstance(value, bytes) else value.encode()
    return varint(field << 3 | 2) + varint(len(value)) + value


def tensor_info(name, shape):
    dims = b"".join(content(1, number(1, dim)) for dim in shape)
    return content(1, name) + content(2, content(1, number(1, 1) + content(2, dims)))


def zeros(name, shape):
    count = 1
    for dim in shape:
        count *= dim
    return b"".join(number(1, dim) for dim in shape) + number(2, 1) + content(8, name) + content(9, bytes(4 * count))


class Model:
    def __init__(self):
        self.graph, self.floats, self.count = content(2, "kernels"), 0, 0

    def name(self):
        self.count += 1
        return f"v{self.count}"

    def input(self, shape):
        name = self.name()
        self.graph += content(11, tensor_info(name, shape))
        return name

    def output(self, name, shape):
        self.graph += content(12, tensor_info(name, shape))

    def node(self, operator, inputs, **attributes):
        name = self.name()
        node = b"".join(content(1, each) for each in inputs) + content(2, name) + content(3, "n" + name)
        node += content(4, operator)
        for key, value in attributes.items():
            if isinstance(value, int):
                node += content(5, content(1, key) + number(3, value) + number(20, 2))
            else:
                node += content(5, content(1, key) + b"".join(number(8, each) for each in value) + number(20, 7))
        self.graph += content(1, node)
        return name

    def convolution(self, x, layer):
        weight, bias = self.name(), self.name()
        shape = (layer.channels_out, layer.channels_in // layer.group, layer.taps, layer.taps)
        self.graph += content(5, zeros(weight, shape)) + content(5, zeros(bias, shape[:1]))
        self.floats += shape[0] * shape[1] * shape[2] * shape[3] + shape[0] * layer.side**2
        pad = layer.taps // 2
        # The image of an even side is one shorter where the stride is 2.
        end = pad - (layer.stride - 1) if layer.taps > 1 else 0
        y = self.node("Conv", (x, weight, bias), kernel_shape=(layer.taps,) * 2, strides=(layer.stride,) * 2,
                      pads=(pad, pad, end, end), group=layer.group)
        return self.node("Relu", (y,))

    def write(self, path):
        with open(path, "wb") as file:
            file.write(number(1, 8) + content(7, self.graph) + content(8, number(2, 13)))


def image(layer):
    return (1, layer.channels_in, layer.side * layer.stride, layer.side * layer.stride)


def result(layer):
    return (1, layer.channels_out, layer.side, layer.side)


def models(precision):
    model = Model()

    def parts():
        for layer in layers():
            yield model.convolution(model.input(image(layer)), layer), result(layer)
        # Two in a row have reorders between their forms, and joined results are copied.
        for channels in (16, 64, 256):
            for side in SIDES:
                layer = Layer(1, 1, channels, channels, side, 1)
                if products(layer) < MOST_PRODUCTS:
                    y = model.convolution(model.input(image(layer)), layer)
                    yield (model.node("Concat", (model.convolution(y, layer), y), axis=1),
                           (1, 2 * channels, side, side))
        for first, second in pairs() if precision == "fp32" else ():
            yield model.convolution(model.convolution(model.input(image(first)), first), second), result(second)

    for name, shape in parts():
        model.output(name, shape)
        if model.floats > MODEL_FLOATS:
            yield model
            model.__init__()
    if model.count:
        yield model


def measure(program, isa, folder):
    """The lines of the record that the program makes."""
    record, path = os.path.join(folder, "record"), os.path.join(folder, "model.onnx")
    environment = {**os.environ, "MILLRACE_MAX_ISA": isa, "MILLRACE_LANES_PER_JOB": "1"}
    for model in models(PRECISIONS[isa]):
        model.write(path)
        subprocess.run((program, "tune", path, "-o", record, "--runs", "1", "--precision", PRECISIONS[isa]), check=True,
                       stdout=subprocess.DEVNULL, env=environment)
    with open(record, encoding="utf-8") as file:
        return [line.rstrip("\n").split("\t") for line in file]


def layer_of(key):
    """The fields of a row for the key of a convolution in a record."""
    match = re.match(r"(\w+) \S+ by (\S+) to 1x(\d+)x(\d+)x\d+ strides (\d)", key)
    weight = [int(each) for each in match[2].split("x")]
    taps, channels_out = weight[-1], int(match[3])
    channels_in = weight[-3] * (weight[0] if len(weight) == 5 else 1)
    kind = "depthwise" if len(weight) == 5 else "dense"
    return match[1], kind, taps, int(match[5]), channels_in, channels_out, int(match[4])


def row_of(key):
    if " then " not in key:
        return layer_of(key)
    (element, _, _, _, channels_in, *_), (*_, stride, _, channels_out, side) = map(layer_of, key.split(" then "))
    return element, "separable", 3, stride, channels_in, channels_out, side


def is_of_use(isa, row):
    """Without AMX all else lies in blocks, and the device's depthwise loops of BF16 are faster in their layout by less
    than reorders take once images lie in memory, which these times do not show."""
    return isa != "avx512_bf16" or row[1:3] != ("depthwise", 3)


def layout(name):
    return "plain" if name == "abcd" else "innermost" if name == "acdb" else "blocks"


def write_table(isa, lines):
    print(f"# Kernels of typical convolutions within {isa}: nanoseconds on one core. Written by measure-kernels.py.")
    print("# conv: type, kind, taps, stride, channels in and out, side of the result; then each form and its time.")
    print("# move: type, elements, layouts; then the time.")
    print("#", next(line[1] for line in lines if line[0] == "fingerprint"))
    rows, moves = collections.defaultdict(dict), {}
    for line in lines:
        if line[0] == "conv" and len(line) == 7:
            rows[row_of(line[1])][line[2]] = line[6]
        if line[0] == "move":
            element, shape, *layouts = line[1].split(" ")
            count = 1
            for dim in shape.split("x"):
                count *= int(dim)
            moves.setdefault((element, count, *map(layout, layouts)), line[2])
    for row in sorted(filter(lambda row: is_of_use(isa, row), rows)):
        print("conv", *row, *(word for form in rows[row].items() for word in form))
    # One for each power of two.
    seen = set()
    for element, count, *layouts in sorted(moves):
        if (element, count.bit_length(), *layouts) not in seen:
            seen.add((element, count.bit_length(), *layouts))
            print("move", element, count, *layouts, moves[(element, count, *layouts)])


def main(isa, program="build/release/bin/millrace"):
    with tempfile.TemporaryDirectory() as folder:
        write_table(isa, measure(program, isa, folder))


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3) or sys.argv[1] not in PRECISIONS:
        sys.exit(__doc__)
    main(*sys.argv[1:])
