#!/usr/bin/env python3
"""Writes the cases of this folder: operators that the ONNX backend tests do not have.

Each case is a model of many nodes of one family over seeded numbers, in the form of the ONNX
backend tests. Its one output has the results of all nodes behind each other, as FLOAT; the golden
ones are ONNX Runtime's. Run where the npm package onnxruntime-node is installed, with Debian's
python3-onnx:

    npm install onnxruntime-node && python3 .../tests/onnx/cases/write_cases.py
"""
import json
import pathlib
import shutil
import subprocess

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

FOLDER = pathlib.Path(__file__).resolve().parent
MS = "com.microsoft"
rng = np.random.default_rng(1)


def real(*shape):
    return (rng.standard_normal(shape) * 0.5).astype(np.float32)


def scale(*shape):
    return (np.abs(real(*shape)) * 0.1 + 0.01).astype(np.float32)


def u8(*shape):
    return rng.integers(0, 256, shape).astype(np.uint8)


def i8(*shape):
    return rng.integers(-128, 128, shape).astype(np.int8)


class Codes:
    """A constant of a type that numpy does not have, of `bits` bits: its number and its codes."""

    def __init__(self, number, bits, codes):
        self.number, self.bits, self.codes = number, bits, codes

    def proto(self, name):
        codes = self.codes.reshape(-1).astype(np.int32) & (1 << self.bits) - 1
        in_byte = 8 // self.bits
        codes = np.append(codes, np.zeros(-codes.size % in_byte, np.int32))
        tensor = TensorProto(name=name, data_type=self.number)
        tensor.dims.extend(self.codes.shape)
        packed = sum(codes[i::in_byte] << i * self.bits for i in range(in_byte))
        tensor.raw_data = packed.astype(np.uint8).tobytes()
        return tensor


INT4, UINT4, INT2, UINT2 = 22, 21, 26, 25
FLOAT8 = {"E4M3FN": 17, "E4M3FNUZ": 18, "E5M2": 19, "E5M2FNUZ": 20}


def FourBits(signed, *shape):
    low, high = (-8, 8) if signed else (0, 16)
    return Codes(INT4 if signed else UINT4, 4, rng.integers(low, high, shape))


class Input:
    """An operand that is an input of the model; plain arrays become initializers."""

    def __init__(self, array):
        self.array = np.asarray(array)


class Case:
    def __init__(self, name, opset=17):
        self.name, self.opset = name, opset
        self.nodes, self.inputs, self.constants, self.results = [], {}, [], []

    def operand(self, value):
        if value is None or isinstance(value, str):
            return value or ""
        if isinstance(value, Input):
            for name, known in self.inputs.items():
                if known is value:
                    return name
            name = f"input{len(self.inputs)}"
            self.inputs[name] = value
            return name
        name = f"constant{len(self.constants)}"
        is_coded = isinstance(value, Codes)
        proto = value.proto(name) if is_coded else numpy_helper.from_array(np.asarray(value), name)
        self.constants.append(proto)
        return name

    def value(self, op, operands, domain=MS, outputs=1, **attributes):
        """Adds a node; the name of its first output."""
        names = [self.operand(operand) for operand in operands]
        made = [f"value{len(self.nodes)}_{i}" for i in range(outputs)]
        self.nodes.append(helper.make_node(op, names, made, domain=domain, **attributes))
        return made

    def add(self, op, operands, domain=MS, outputs=1, **attributes):
        """Adds a node whose outputs are results."""
        for made in self.value(op, operands, domain, outputs, **attributes):
            self.result(made)

    def result(self, name):
        number = self.value("Cast", [name], "", to=TensorProto.FLOAT)[0]
        self.results.append(self.value("Reshape", [number, np.array([-1])], "")[0])

    def model(self):
        self.nodes.append(helper.make_node("Concat", self.results, ["results"], axis=0))
        types = onnx.mapping.NP_TYPE_TO_TENSOR_TYPE
        inputs = [helper.make_tensor_value_info(name, types[value.array.dtype], value.array.shape)
                  for name, value in self.inputs.items()]
        output = helper.make_tensor_value_info("results", TensorProto.FLOAT, ["size"])
        graph = helper.make_graph(self.nodes, self.name, inputs, [output], self.constants)
        opsets = [helper.make_opsetid("", self.opset), helper.make_opsetid(MS, 1)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=10)

    def write(self):
        folder = FOLDER / "node" / self.name
        shutil.rmtree(folder, ignore_errors=True)
        data = folder / "test_data_set_0"
        data.mkdir(parents=True)
        onnx.save(self.model(), str(folder / "model.onnx"))
        feeds = []
        for i, (name, value) in enumerate(self.inputs.items()):
            proto = numpy_helper.from_array(value.array, name)
            (data / f"input_{i}.pb").write_bytes(proto.SerializeToString())
            feeds.append({"name": name, "type": value.array.dtype.name,
                          "dims": value.array.shape, "data": value.array.reshape(-1).tolist()})
        run = subprocess.run(["node", FOLDER / "run_model.mjs", folder / "model.onnx"],
                             input=json.dumps(feeds), capture_output=True, text=True)
        if run.returncode != 0:
            raise SystemExit(f"{self.name}: {run.stderr}")
        golden = np.array(json.loads(run.stdout), np.float32)
        proto = numpy_helper.from_array(golden, "results")
        (data / "output_0.pb").write_bytes(proto.SerializeToString())
        print(self.name, golden.size, "numbers")


def four_bit_integers():
    case = Case("four_bit_integers", opset=21)
    x = Input(real(2, 32) * 3)
    for signed in (True, False):
        def quarter(*shape):
            return FourBits(signed, *shape)
        case.add("DequantizeLinear", [quarter(3, 7), np.float32(0.1)], "")
        case.add("DequantizeLinear", [quarter(3, 7), scale(3), quarter(3)], "", axis=0)
        blocks = case.value("DequantizeLinear", [quarter(32, 5), scale(2, 5), quarter(2, 5)], "",
                            axis=0, block_size=16)[0]
        case.add("MatMul", [x, blocks], "")
        for domain in ("", MS):
            zero = quarter()
            rounded = case.value("QuantizeLinear", [x, np.float32(0.1), zero], domain)[0]
            case.add("DequantizeLinear", [rounded, np.float32(0.1), zero], domain)
    return case


def sixteen_bit_integers():
    case = Case("sixteen_bit_integers", opset=21)
    x = Input(real(4, 6) * 3)
    for dtype, zero in ((np.uint16, 40000), (np.int16, -99)):
        for operands, attributes in (
                ([np.float32(0.0003), np.array(zero, dtype)], {}),
                ([scale(6) * 0.01, np.full(6, zero, dtype)], {"axis": 1}),
                ([scale(2, 6) * 0.01, np.full((2, 6), zero, dtype)], {"axis": 0, "block_size": 2})):
            rounded = case.value("QuantizeLinear", [x] + operands, "", **attributes)[0]
            case.add("DequantizeLinear", [rounded] + operands, "", **attributes)
    return case


def matmul_n_bits():
    case = Case("matmul_n_bits")
    for bits in (2, 4, 8):
        for depth, columns, block in ((40, 3, 16), (32, 5, 32)):
            x = Input(real(2, depth))
            blocks = -(-depth // block)
            zero_bytes = -(-blocks * bits // 8)
            attributes = {"K": depth, "N": columns, "bits": bits, "block_size": block}
            weights = [u8(columns, blocks, block * bits // 8), scale(columns * blocks)]
            case.add("MatMulNBits", [x] + weights, **attributes)
            zeros = u8(columns * zero_bytes)
            case.add("MatMulNBits", [x] + weights + [zeros, None, real(columns)], **attributes)
            if bits == 8:
                continue  # ONNX Runtime does not have the rest
            case.add("MatMulNBits", [x] + weights + [real(columns * blocks) + 8], **attributes)
            order = rng.permutation(np.repeat(np.arange(blocks), block)[:depth]).astype(np.int32)
            if bits == 4:  # without zero points, which ONNX Runtime leaves out with an order
                case.add("MatMulNBits", [x] + weights + [None, order], **attributes)
    return case


def gather_block_quantized():
    case = Case("gather_block_quantized")
    rows = Input(rng.integers(0, 5, (2, 2)))
    for signed in (True, False):
        table, zeros = FourBits(signed, 5, 3, 32), FourBits(signed, 5, 3, 2)
        last = {"block_size": 16, "gather_axis": 0, "quantize_axis": 2}
        case.add("GatherBlockQuantized", [table, rows, scale(5, 3, 2)], **last)
        case.add("GatherBlockQuantized", [table, rows, scale(5, 3, 2), zeros], **last)
        case.add("GatherBlockQuantized", [FourBits(signed, 5, 32, 3), rows, scale(5, 2, 3)],
                 block_size=16, gather_axis=0, quantize_axis=1)
    for bits in (4, 8):
        table = [u8(6, 32 * bits // 8), rows, scale(6, 2)]
        packed = {"block_size": 16, "gather_axis": 0, "quantize_axis": 1, "bits": bits}
        case.add("GatherBlockQuantized", table, **packed)
        case.add("GatherBlockQuantized", table + [u8(6, bits // 4)], **packed)
    return case


def rotary_embedding():
    case = Case("rotary_embedding")
    angle = rng.random((10, 4))
    tables = [np.cos(angle).astype(np.float32), np.sin(angle).astype(np.float32)]
    positions = Input(rng.integers(0, 8, (2, 3)))
    first = Input(np.array([2]))
    for interleaved in (0, 1):
        for x, at, attributes in ((real(2, 3, 16), positions, {}),
                                  (real(2, 2, 3, 8), positions, {}),
                                  (real(2, 3, 16), first, {}),
                                  (real(2, 3, 24), positions,
                                   {"rotary_embedding_dim": 8, "num_heads": 2})):
            case.add("RotaryEmbedding", [Input(x), at] + tables, interleaved=interleaved,
                     **attributes)
    return case


def group_query_attention():
    case = Case("group_query_attention")
    heads, groups, size = 4, 2, 16
    angle = rng.random((12, size // 2))
    tables = [np.cos(angle).astype(np.float32), np.sin(angle).astype(np.float32)]

    def add(batch, length, past, packed=False, tables=(), **attributes):
        total = past + length
        if packed:
            operands = [Input(real(batch, length, (heads + 2 * groups) * size)), None, None]
        else:
            operands = [Input(real(batch, length, n * size)) for n in (heads, groups, groups)]
        operands += [Input(real(batch, groups, past, size)) for _ in range(2)] if past else [
            np.zeros((batch, groups, 0, size), np.float32)] * 2
        operands += [np.full(batch, total - 1, np.int32), np.array(total, np.int32)]
        case.add("GroupQueryAttention", operands + list(tables), outputs=3, num_heads=heads,
                 kv_num_heads=groups, **attributes)

    add(2, 4, 0)
    add(2, 1, 5)
    add(1, 3, 4)
    add(1, 4, 0, tables=tables, do_rotary=1)
    add(1, 1, 4, packed=True, tables=tables, do_rotary=1, rotary_interleaved=1)
    add(1, 6, 0, local_window_size=3)
    add(1, 4, 0, scale=0.2, softcap=1.5)
    return case


def quantised_attention():
    case = Case("quantised_attention")
    x = Input(u8(2, 5, 8))
    past = Input(real(2, 2, 2, 3, 4))
    for weights, zero in ((i8(8, 24), np.int8(3)), (u8(8, 24), np.uint8(130))):
        first = [x, weights, real(24), np.float32(0.02), np.float32(0.01)]
        zeros = [np.uint8(120), zero]
        case.add("QAttention", first, num_heads=2)
        case.add("QAttention", first + [None] + zeros, num_heads=2)
        case.add("QAttention", first + [None] + zeros, num_heads=2, unidirectional=1)
        ends = np.array([3, 5], np.int32)
        case.add("QAttention", first + [ends] + zeros, num_heads=2)
        mask = np.array([[1, 1, 1, 0, 0], [0, 1, 1, 1, 1]], np.int32)
        case.add("QAttention", first + [mask] + zeros, num_heads=2)
        case.add("QAttention", first + [None] + zeros + [past], outputs=2, num_heads=2,
                 unidirectional=1)
        case.add("QAttention", first[:4] + [scale(24), None, zeros[0], np.zeros_like(weights[0])],
                 num_heads=2)
    return case


def quantised_windows():
    """Channels in the second dimension and in the last."""
    case = Case("quantised_windows")
    window = {"kernel_shape": [3, 2], "strides": [2, 1], "pads": [1, 0, 1, 1]}
    for make, dtype in ((u8, np.uint8), (i8, np.int8)):
        # Odd scales: few of their quotients lie half-way between two integers.
        of_x = [np.float32(0.0231), dtype(3)]
        of_y = [np.float32(0.0317), dtype(9)]
        last = Input(make(1, 5, 6, 3))
        for attributes in (window, {"kernel_shape": [3, 3], "strides": [2, 2], "ceil_mode": 1},
                           {"kernel_shape": [2, 2], "dilations": [2, 2]}):
            case.add("NhwcMaxPool", [last], **attributes)
        for channels_last in (0, 1):
            x = last if channels_last else Input(make(1, 3, 5, 6))
            for attributes in (window, {**window, "count_include_pad": 1},
                               {"kernel_shape": [2, 2], "strides": [2, 2], "ceil_mode": 1},
                               {"kernel_shape": [3, 3], "auto_pad": "SAME_LOWER"}):
                case.add("QLinearAveragePool", [x] + of_x + of_y, channels_last=channels_last,
                         **attributes)
            case.add("QLinearGlobalAveragePool", [x] + of_x + of_y, channels_last=channels_last)
        weight = [i8(4, 3, 3, 3), scale(4) * 0.1, np.zeros(4, np.int8)]
        result = [np.float32(0.317), dtype(9)]
        bias = rng.integers(-999, 999, 4).astype(np.int32)
        case.add("QLinearConv", [last] + of_x + weight + result + [bias], channels_last=1,
                 pads=[1, 1, 1, 1])
    return case


def quantised_functions():
    case = Case("quantised_functions")
    for make, dtype in ((u8, np.uint8), (i8, np.int8)):
        x = Input(make(2, 3, 4))
        condition = Input(rng.integers(0, 2, (2, 1, 4)).astype(bool))
        case.add("QLinearWhere",
                 [condition, x, np.float32(0.1), dtype(3), Input(make(3, 1)), np.float32(0.23),
                  dtype(7), np.float32(0.19), dtype(5)])
        for axis, opset in ((-1, 13), (1, 13), (1, 12)):
            case.add("QLinearSoftmax", [x, np.float32(0.021), dtype(3), np.float32(1 / 256),
                                        dtype(0)], axis=axis, opset=opset)
    return case


def dynamic_quantize_lstm():
    case = Case("dynamic_quantize_lstm")
    steps, batch, inputs, hidden = 5, 2, 3, 4
    x = Input(real(steps, batch, inputs))

    def add(make, zero, directions, per_output=False, state=False, **attributes):
        each = (directions, 4 * hidden) if per_output else (directions,)
        first = [Input(real(directions, batch, hidden)) if state else None for _ in range(2)]
        weights = [make(directions, inputs, 4 * hidden), make(directions, hidden, 4 * hidden)]
        parameters = [scale(*each) * 0.1, np.full(each, zero)] * 2
        case.add("DynamicQuantizeLSTM",
                 [x] + weights + [real(directions, 8 * hidden), None] + first + [None]
                 + parameters, outputs=3, hidden_size=hidden, **attributes)

    add(i8, np.int8(0), 1)
    add(u8, np.uint8(128), 1, state=True)
    add(i8, np.int8(0), 1, per_output=True, direction="reverse")
    add(i8, np.int8(0), 2, per_output=True, state=True, direction="bidirectional")
    return case


def embedding():
    case = Case("embedding")
    words = Input(rng.integers(0, 10, (2, 4)).astype(np.int32))
    segments = Input(rng.integers(0, 2, (2, 4)).astype(np.int32))
    mask = Input(np.array([[1, 1, 1, 0], [1, 1, 0, 0]], np.int32))
    tables = [u8(10, 8), u8(6, 8), u8(2, 8), u8(8), u8(8)]
    parameters = [np.float32(s) for s in (0.01, 0.02, 0.015, 0.01, 0.02)]
    parameters += [np.uint8(z) for z in (120, 110, 128, 3, 100)]
    case.add("QEmbedLayerNormalization", [words, segments] + tables + [mask] + parameters,
             outputs=2, epsilon=1e-5)
    tables[2] = parameters[2] = parameters[7] = None
    case.add("QEmbedLayerNormalization", [words, None] + tables + [None] + parameters, outputs=2)
    return case


def predecessors():
    case = Case("predecessors")
    x = Input(real(3, 4))
    for metric in ("euclidean", "sqeuclidean"):
        case.add("CDist", [x, Input(real(5, 4))], metric=metric)
    case.add("GatherND", [x, Input(np.array([[0, 1], [2, 3]]))])
    case.add("Trilu", [x, np.array(1)], upper=0)
    case.add("GridSample", [Input(real(1, 2, 4, 4)), Input(real(1, 3, 2, 2))], align_corners=1)
    for name, attributes in (("ScaledTanh", {"activation_alpha": 0.3, "activation_beta": 0.4}),
                             ("Softsign", {}), ("ThresholdedRelu", {"activation_alpha": 0.3})):
        case.add("FusedGemm", [x, real(4, 5), real(5)], activation=name, **attributes)
    return case


def more_predecessors():
    case = Case("more_predecessors")
    x = Input(real(3, 4))
    for pads, value, mode in ((np.array([1, 0, 0, 2]), None, "constant"),
                              (np.array([[0, 1, 2, -1]]), np.array([9], np.float32), "constant"),
                              (np.array([1, 2, 1, 0]), None, "reflect"),
                              (np.array([1, 2, 1, 0]), None, "edge")):
        case.add("Pad", [x, pads, value], mode=mode)
    for axis in (-1, 0, 2):
        shape = case.value("ExpandDims", [x, np.array(axis, np.int32)])[0]
        case.add("Shape", [shape], "")
    case.add("Range", [np.float32(1.5), np.float32(4)])
    case.add("Range", [np.array([9]), np.array([1]), np.array([-3])])
    case.add("Unique", [Input(np.array([2, 1, 1, 3, 2], np.float32))], outputs=3)
    case.add("Inverse", [Input(real(2, 4, 4))])
    tokens = Input(np.array([[1, 2, 3, 1, 2], [4, 4, 4, 4, 4]]))
    for size in (1, 2, 3, 6):
        blocked = case.value("NGramRepeatBlock", [tokens, Input(real(2, 5))], ngram_size=size)[0]
        case.add("Max", [blocked, np.float32(-9)], "")  # -inf is no number of JSON
    regions = Input(np.array([[0, 0, 1, 1], [.1, .8, .7, .2], [-.5, .2, .5, 1.5]], np.float32))
    images = Input(np.array([1, 0, 1], np.int32))
    for mode in ("bilinear", "nearest"):
        for size in ([4, 3], [1, 5]):
            case.add("CropAndResize", [Input(real(2, 3, 5, 6)), regions, images,
                                       np.array(size, np.int32)], mode=mode,
                     extrapolation_value=0.5)
    picture, weights = Input(real(1, 2, 4, 3)), real(2, 3, 3, 2)
    for pads, attributes in ((np.array([1, 0, 0, 1]), {"strides": [2, 2]}),
                             (np.array([0, 1, 1, 0]), {"dilations": [1, 2]})):
        case.add("ConvTransposeWithDynamicPads", [picture, weights, pads, real(3)], **attributes)
    return case


def matmul_bnb4():
    case = Case("matmul_bnb4")
    for depth, columns, block in ((32, 5, 16), (18, 3, 64)):
        x, count = Input(real(2, 3, depth)), depth * columns
        for table in (0, 1):
            case.add("MatMulBnb4", [x, u8((count + 1) // 2), scale(-(-count // block))], K=depth,
                     N=columns, block_size=block, quant_type=table)
    return case


def ragged_attention():
    """Sequences of a batch with pasts of different lengths, buffers, and attention sinks."""
    case = Case("ragged_attention")
    heads, groups, size = 4, 2, 16
    angle = rng.random((16, size // 2))
    tables = [np.cos(angle).astype(np.float32), np.sin(angle).astype(np.float32)]

    def add(length, starts, room, rest=(), known=False, outputs=3, **attributes):
        batch, total = len(starts), max(starts) + length
        operands = [Input(real(batch, length, n * size)) for n in (heads, groups, groups)]
        operands += [Input(real(batch, groups, room, size)) for _ in range(2)]
        ends = np.array([start + length - 1 for start in starts], np.int32)
        operands += [ends if known else Input(ends), np.array(total, np.int32)] + list(rest)
        result, *caches = case.value("GroupQueryAttention", operands, outputs=outputs,
                                     num_heads=heads, kv_num_heads=groups, **attributes)
        case.result(result)
        if outputs > 3:
            case.result(caches.pop())  # the weights
        end = np.array([min(starts) + length])  # what lies behind the shortest sequence is open
        for cache in caches:
            case.result(case.value("Slice", [cache, np.array([0]), end, np.array([2])], "")[0])

    no_bias = [None] * 4
    add(1, [5, 3, 1], 5)
    add(1, [5, 3], 5, known=True, local_window_size=2)
    add(1, [5, 3], 9, rest=tables, do_rotary=1)
    add(1, [4, 4], 9, known=True)
    add(1, [6], 9)
    add(4, [0, 0], 9)
    add(3, [4], 9)
    add(1, [5, 3], 5, smooth_softmax=1)
    add(1, [5, 3], 5, rest=no_bias + [real(heads)])
    add(4, [0, 0], 9, rest=no_bias + [real(heads)], softcap=1.5)
    add(3, [2], 2, causal=0)
    add(3, [2], 2, outputs=4, qk_output=2)
    return case


def decoder_masked_attention():
    case = Case("decoder_masked_attention")
    heads, size, past = 2, 4, 3

    def add(batch, mask=None, bias=None, all_bias=None):
        operands = [Input(real(batch, 1, heads * size)) for _ in range(3)] + [mask, bias]
        operands += [Input(real(batch, heads, past + 4, size)) for _ in range(2)]
        operands += [np.array([past], np.int32), None, None, all_bias]
        result, *caches = case.value("DecoderMaskedMultiHeadAttention", operands, outputs=3,
                                     num_heads=heads, past_present_share_buffer=1)
        case.result(result)
        for cache in caches:
            end = np.array([past + 1])
            case.result(case.value("Slice", [cache, np.array([0]), end, np.array([2])], "")[0])

    add(1)
    add(2, mask=Input(np.array([[1, 0, 1, 1], [1, 1, 1, 1]], np.int32)))
    add(1, bias=Input(real(1, heads, 1, past + 1)))
    add(1, all_bias=real(3 * heads * size))
    case.add("DecoderMaskedMultiHeadAttention",
             [Input(real(2, 1, heads * size))] + [Input(real(2, heads, 5, size)) for _ in range(2)],
             num_heads=heads)
    return case


def experts():
    case = Case("experts")
    count, hidden, inner = 3, 32, 16
    x, scores = Input(real(5, hidden) * 2), Input(real(5, count))
    gates = {"activation_type": "swiglu", "swiglu_fusion": 1, "activation_alpha": 1.702,
             "activation_beta": 1.0, "swiglu_limit": 0.7}
    forms = [({"activation_type": name}, 1) for name in ("relu", "gelu", "silu", "identity")]
    forms += [(gates, 2)]
    for attributes, rows in forms:
        weights = [real(count, rows * inner, hidden), real(count, rows * inner),
                   real(count, hidden, inner), real(count, hidden)]
        case.add("MoE", [x, scores] + weights, k=2, normalize_routing_weights=1, **attributes)
    case.add("MoE", [x, scores, weights[0], None, weights[2]], k=1, **gates)
    for bits in (4, 8):
        for attributes, rows in forms[2:3] + forms[4:]:
            operands = [x, scores, u8(count, rows * inner, hidden * bits // 8),
                        scale(count, rows * inner), real(count, rows * inner),
                        u8(count, hidden, inner * bits // 8), scale(count, hidden),
                        real(count, hidden)]
            case.add("QMoE", operands, k=2, normalize_routing_weights=1, expert_weight_bits=bits,
                     **attributes)
    blocks = [x, scores, u8(count, inner, hidden // 2), scale(count, inner, hidden // 16), None,
              u8(count, hidden, inner // 2), scale(count, hidden, inner // 16), None]
    one = {"k": 1, "normalize_routing_weights": 1, "activation_type": "silu"}
    case.add("QMoE", blocks, block_size=16, **one)
    rows = [x, scores, u8(count, inner, hidden // 2), scale(count, inner), None,
            u8(count, hidden, inner // 2), scale(count, hidden)] + [None] * 4
    rows += [u8(count, inner // 2), u8(count, hidden // 2)]
    case.add("QMoE", rows, **one)
    mixed = rows[:11] + [None] * 3 + [Input(np.abs(real(5, count)))]
    case.add("QMoE", mixed, k=2, activation_type="silu")
    return case


def linear_attention():
    case = Case("linear_attention")
    key, value, batch, tokens = 4, 6, 2, 3

    def add(rule, queries=2, states=2, keys=None, by_row=False, one_beta=False, past=True, **rest):
        keys = keys or states
        operands = [Input(real(batch, tokens, n)) for n in (queries * key, keys * key,
                                                             states * value)]
        gates = [np.abs(real(batch, tokens, states * (key if by_row else 1))) * -1,
                 np.abs(real(batch, tokens, 1 if one_beta else states))]
        operands += [Input(real(batch, states, key, value)) if past else None]
        operands += [Input(gate) if name in rule else None
                     for name, gate in zip(("gated", "delta"), gates)]
        case.add("LinearAttention", operands, outputs=2, q_num_heads=queries, kv_num_heads=states,
                 update_rule=rule, **rest)

    for rule in ("linear", "gated", "delta", "gated_delta"):
        add(rule)
    add("gated_delta", queries=4)
    add("gated_delta", queries=1, states=2)
    add("gated_delta", by_row=True, past=False)
    add("delta", one_beta=True, scale=0.3)
    signal, weights, bias = Input(real(2, 3, 5)), real(3, 1, 4), real(3)
    state = Input(real(2, 3, 3))
    case.add("CausalConvWithState", [signal, weights], outputs=2)
    case.add("CausalConvWithState", [signal, weights, bias, state], outputs=2, activation="silu")
    case.add("CausalConvWithState", [Input(real(2, 3, 1)), weights, None, state], outputs=2)
    case.add("CausalConvWithState", [signal, weights], outputs=2, dilation=2)
    case.add("CausalConvWithState", [Input(real(2, 5, 3, 1)), weights, bias,
                                     Input(real(2, 3, 3, 1))], outputs=2, channels_last=1)
    return case


def attention():
    """Attention of the standard, of rank 4 and 3."""
    case = Case("attention", opset=24)

    def add(batch=2, heads=4, groups=2, queries=3, keys=5, past=0, size=8, value_size=6,
            joined=False, mask=None, lengths=None, outputs=3, **attributes):
        def operand(heads, length, size):
            shape = (batch, length, heads * size) if joined else (batch, heads, length, size)
            return Input(real(*shape) * 2)

        operands = [operand(heads, queries, size), operand(groups, keys, size),
                    operand(groups, keys, value_size), None if mask is None else Input(mask)]
        operands += [Input(real(batch, groups, past, n)) for n in (size, value_size)] if past else [
            None, None]
        if lengths:
            operands.append(Input(np.array(lengths, np.int64)))
        if joined:
            attributes.update(q_num_heads=heads, kv_num_heads=groups)
        case.add("Attention", operands, "", outputs=outputs, **attributes)

    truths = np.array([[1, 0, 1, 1, 0], [0, 1, 1, 0, 1], [1, 1, 0, 0, 0]], bool)
    for joined in (False, True):
        add(joined=joined)
        add(joined=joined, groups=4, keys=3, is_causal=1)
        add(joined=joined, past=2, keys=3, is_causal=1)
        add(joined=joined, mask=real(3, 5), scale=0.3)
        add(joined=joined, mask=truths, softcap=0.5)
    for mask in (truths[None], real(2, 1, 3, 5), real(4, 3, 5)):
        add(mask=mask, is_causal=1, outputs=1)
    for mode in range(4):
        add(softcap=0.7, qk_matmul_output_mode=mode, outputs=4)
    add(mask=real(2, 4, 3, 5), qk_matmul_output_mode=2, outputs=4)
    add(queries=1, keys=1, past=6, mask=real(1, 1, 1, 7), is_causal=1)
    add(lengths=[5, 3], outputs=1)
    add(lengths=[5, 3], is_causal=1, outputs=1)
    add(groups=1, lengths=[4, 4], mask=real(3, 5), softcap=2.0, outputs=1)
    return case


def standard_rotary_embedding():
    case = Case("standard_rotary_embedding", opset=23)
    angle = rng.random((10, 4))
    tables = [np.cos(angle).astype(np.float32), np.sin(angle).astype(np.float32)]
    positions = Input(rng.integers(0, 8, (2, 3)))
    of_tokens = [Input(real(2, 3, 4)) for _ in range(2)]
    for interleaved in (0, 1):
        for shape, attributes in (((2, 3, 16), {"num_heads": 2}), ((2, 2, 3, 8), {}),
                                  ((2, 3, 24), {"num_heads": 2, "rotary_embedding_dim": 8}),
                                  ((2, 2, 3, 12), {"rotary_embedding_dim": 8})):
            x = Input(real(*shape))
            case.add("RotaryEmbedding", [x] + tables + [positions], "", interleaved=interleaved,
                     **attributes)
            case.add("RotaryEmbedding", [x] + of_tokens, "", interleaved=interleaved, **attributes)
    return case


def opset_26():
    """Operators of opsets 23 to 26 that are no attention; ONNX Runtime has no Swish."""
    case = Case("opset_26", opset=26)
    x = Input(real(2, 3, 4))
    for scales, attributes in ((real(4), {}), (real(3, 4), {"axis": 1}), (real(1), {}),
                               (real(4), {"axis": -2, "epsilon": 0.1})):
        case.add("RMSNormalization", [x, scales], "", **attributes)
    numbers = Input(rng.integers(-3, 4, (2, 3, 4)))
    for axis in (1, -1):
        for attributes in ({}, {"exclusive": 1}, {"reverse": 1}, {"exclusive": 1, "reverse": 1}):
            for operand in (x, numbers):
                case.add("CumProd", [operand, np.array(axis)], "", **attributes)
    cache, update = Input(real(2, 2, 5, 3)), Input(real(2, 2, 2, 3))
    case.add("TensorScatter", [cache, update], "")
    case.add("TensorScatter", [cache, update, Input(np.array([3, 1]))], "")
    case.add("TensorScatter", [cache, update, Input(np.array([4, 0]))], "", mode="circular")
    case.add("TensorScatter", [Input(i8(2, 4, 2, 2)), Input(i8(2, 3, 2, 2)), np.array([1, 0])], "",
             axis=1)
    case.add("BitCast", [x], "", to=TensorProto.INT32)
    case.add("BitCast", [numbers], "", to=TensorProto.UINT64)
    case.add("BitCast", [Input(u8(7))], "", to=TensorProto.INT8)
    return case


def narrow_types():
    case = Case("narrow_types", opset=25)
    x = Input(real(2, 32) * 3)
    for number, low, high in ((INT2, -2, 2), (UINT2, 0, 4)):
        def codes(*shape):
            return Codes(number, 2, rng.integers(low, high, shape))
        case.add("DequantizeLinear", [codes(3, 7), np.float32(0.1)], "")
        case.add("DequantizeLinear", [codes(3, 7), scale(3), codes(3)], "", axis=0)
        zero = codes()
        rounded = case.value("QuantizeLinear", [x, np.float32(0.9), zero], "")[0]
        case.add("DequantizeLinear", [rounded, np.float32(0.9), zero], "")
    for number in FLOAT8.values():
        codes = Codes(number, 8, np.arange(120).reshape(3, 40))
        case.add("DequantizeLinear", [codes, scale(3)], "", axis=0)
        zero = Codes(number, 8, np.array(0))
        for step in (0.07, 1e-4):
            rounded = case.value("QuantizeLinear", [x, np.float32(step), zero], "")[0]
            case.add("DequantizeLinear", [rounded, np.float32(step), zero], "")
        case.add("Cast", [case.value("Cast", [x], "", to=number)[0]], "", to=TensorProto.FLOAT)
    numbers = Input(rng.integers(-300, 300, (3, 20)).astype(np.int32))
    for number in (INT4, UINT4, INT2, UINT2):
        case.add("Cast", [case.value("Cast", [numbers], "", to=number)[0]], "", to=TensorProto.FLOAT)
    return case


def rare_operators():
    case = Case("rare_operators")
    source = Input(np.array([1, 5, 3, 4, 2, 5, 3, 9]))
    for written, index, predicted in (([1, 5], 2, [3, 4, 7, 1, 1, 1, 1]), ([2, 5, 3], 0, None),
                                      ([8, 3], 6, [3, 9, 4]), ([4], 8, [1])):
        operands = [source, Input(np.array(written)), Input(np.array([index]))]
        operands += [] if predicted is None else [Input(np.array(predicted))]
        case.add("BifurcationDetector", operands, outputs=2, min_ngram_size=1, max_ngram_size=3)
    for shape in ((4, 6), (1, 7, 3)):
        case.add("DynamicTimeWarping", [Input(np.abs(real(*shape)))])
    words = Input(rng.integers(-30000, 30000, (2, 3, 4)).astype(np.int16))
    case.add("MatMulInteger16", [words, rng.integers(-99, 99, (2, 4, 2)).astype(np.int16)])
    numbers = rng.integers(-9, 99, (2, 3))
    for dtype in (np.int32, np.int64, np.uint32, np.float32, np.float64):
        key = numbers.astype(np.uint8).astype(dtype) if dtype == np.uint32 else numbers.astype(dtype)
        for attributes in ({}, {"positive": 0, "seed": 7}):
            case.add("MurmurHash3", [key], **attributes)
    for attributes in ({"size": 2}, {"size": 3, "step": 2, "dim": 1}, {"size": 1, "dim": 0}):
        case.add("UnfoldTensor", [Input(real(2, 6, 5))], **attributes)
    characters = Input(np.array([[3, 1, 4, 1, 5], [2, 0, 0, 0, 0], [1, 2, 3, 0, 0]], np.int32))
    case.add("WordConvEmbedding", [characters, real(4, 1, 3, 6), real(4), real(7, 6)],
             embedding_size=4, conv_window_size=3, char_embedding_size=6)
    case.add("SampleOp", [Input(real(3))])
    return case


if __name__ == "__main__":
    for make in (four_bit_integers, sixteen_bit_integers, matmul_n_bits, gather_block_quantized,
                 rotary_embedding, group_query_attention, quantised_attention, quantised_windows,
                 quantised_functions, dynamic_quantize_lstm, embedding, predecessors,
                 more_predecessors, matmul_bnb4, ragged_attention, decoder_masked_attention,
                 experts, linear_attention, attention, standard_rotary_embedding, opset_26,
                 narrow_types, rare_operators):
        make().write()
