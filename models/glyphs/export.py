"""Writes a trained network as ONNX: opset 13, batch normalisation left unfolded."""

import onnx
from onnx import TensorProto, helper, numpy_helper

from network import (BatchNorm, Conv, Dense, DepthwiseConv, GlobalAveragePool,
                     MaxPool, Relu, Residual)

OPSET = 13
IR_VERSION = 8
PRODUCER = "millrace-glyphs"


class Graph:
    """Nodes and weights gathered so far; numbers the nodes of each kind."""

    def __init__(self):
        self.nodes, self.initializers, self.counts = [], [], {}

    def name(self, kind):
        self.counts[kind] = self.counts.get(kind, 0) + 1
        return f"{kind}{self.counts[kind]}"

    def weight(self, name, array):
        self.initializers.append(numpy_helper.from_array(array.copy(), name))
        return name

    def node(self, operator, name, inputs, **attributes):
        output = f"{name}_out"
        self.nodes.append(helper.make_node(operator, inputs, [output], name, **attributes))
        return output


def add_layer(graph, layer, x):
    """Append the node(s) of `layer` applied to tensor `x`; returns the output's name."""
    p = layer.parameters
    if isinstance(layer, Conv):
        # [height, width, in, out] -> [out, in, height, width]
        return add_conv(graph, "conv", p["weight"].transpose(3, 2, 0, 1), x,
                        layer.stride, layer.pad)
    if isinstance(layer, DepthwiseConv):
        channels = p["weight"].shape[1]
        weight = p["weight"].T.reshape(channels, 1, 3, 3)
        return add_conv(graph, "depthwise", weight, x, stride=1, pad=1, group=channels)
    if isinstance(layer, BatchNorm):
        name = graph.name("norm")
        values = {"scale": p["scale"], "bias": p["bias"], **layer.statistics}
        inputs = [graph.weight(f"{name}_{key}", values[key])
                  for key in ("scale", "bias", "mean", "variance")]
        return graph.node("BatchNormalization", name, [x, *inputs], epsilon=layer.EPSILON)
    if isinstance(layer, Relu):
        return graph.node("Relu", graph.name("relu"), [x])
    if isinstance(layer, MaxPool):
        return graph.node("MaxPool", graph.name("maxpool"), [x],
                          kernel_shape=[2, 2], strides=[2, 2])
    if isinstance(layer, Residual):
        y = x
        for child in layer.body:
            y = add_layer(graph, child, y)
        return graph.node("Add", graph.name("add"), [x, y])
    if isinstance(layer, GlobalAveragePool):
        pooled = graph.node("GlobalAveragePool", graph.name("averagepool"), [x])
        return graph.node("Flatten", graph.name("flatten"), [pooled], axis=1)
    if isinstance(layer, Dense):
        name = graph.name("dense")
        inputs = [graph.weight(f"{name}_weight", p["weight"].T),
                  graph.weight(f"{name}_bias", p["bias"])]
        return graph.node("Gemm", name, [x, *inputs], transB=1)
    raise TypeError(f"no ONNX form for {type(layer).__name__}")


def add_conv(graph, kind, weight, x, stride, pad, group=1):
    name = graph.name(kind)
    size = list(weight.shape[2:])
    return graph.node("Conv", name, [x, graph.weight(f"{name}_weight", weight)],
                      kernel_shape=size, strides=[stride] * 2, pads=[pad] * 4,
                      dilations=[1, 1], group=group)


def to_onnx(network, classes):
    graph = Graph()
    x = "image"
    for layer in network.layers:
        x = add_layer(graph, layer, x)
    graph.nodes[-1].output[0] = "scores"
    image = helper.make_tensor_value_info("image", TensorProto.FLOAT, ["batch", 1, 32, 32])
    scores = helper.make_tensor_value_info("scores", TensorProto.FLOAT, ["batch", classes])
    model = helper.make_model(
        helper.make_graph(graph.nodes, "glyphs", [image], [scores], graph.initializers),
        opset_imports=[helper.make_opsetid("", OPSET)], producer_name=PRODUCER,
        doc_string=f"{PRODUCER}: one rendered character, 32x32, grey/255 -> class scores")
    model.ir_version = IR_VERSION
    onnx.checker.check_model(model, full_check=True)
    return model
