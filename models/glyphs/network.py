"""A small convolutional network in numpy: layers, their gradients, the model.

Activations are [batch, height, width, channels].  With the channels last, a
convolution is one matrix product over a gathered copy of its input, and batch
normalisation works on the columns of a tall matrix; both suit numpy and BLAS.
The ONNX file wants channels first, export.py transposes the weights once.

Every layer has `forward(x, training)`, which keeps what the gradient needs,
`backward(dy)`, which returns the gradient of the input and fills `gradients`,
and `parameters` (name -> array, updated in place).  Layers with a `weight` also
know after a forward pass how many `positions` of a picture it is applied to.
"""

import numpy as np

FLOAT = np.float32


class Layer:
    def __init__(self):
        self.parameters = {}
        self.gradients = {}
        self.statistics = {}  # saved with the model but not trained

    def children(self):
        return [self]


class Conv(Layer):
    """Convolution without bias: a batch normalisation always follows."""

    def __init__(self, rng, inputs, outputs, size, stride=1):
        super().__init__()
        self.size, self.stride, self.pad = size, stride, size // 2
        spread = np.sqrt(2 / (size * size * inputs))
        self.parameters["weight"] = (
            spread * rng.standard_normal((size, size, inputs, outputs))).astype(FLOAT)

    def forward(self, x, training):
        weight = self.parameters["weight"]
        n, h, w, _ = x.shape
        self.input_shape = x.shape
        self.output_size = (n, h // self.stride, w // self.stride)
        self.positions = self.output_size[1] * self.output_size[2]
        self.columns = self.gather(x)
        y = self.columns @ weight.reshape(-1, weight.shape[3])
        return y.reshape(*self.output_size, -1)

    def backward(self, dy):
        weight = self.parameters["weight"]
        dy = dy.reshape(-1, weight.shape[3])
        self.gradients["weight"] = (self.columns.T @ dy).reshape(weight.shape)
        if self.input_shape[3] == 1:
            return None  # the picture itself, whose gradient is not needed
        return self.scatter(dy @ weight.reshape(-1, weight.shape[3]).T)

    def windows(self, padded):
        """For every kernel position the (strided) view of the padded input."""
        _, h, w = self.output_size
        s = self.stride
        return [padded[:, i:i + s * h:s, j:j + s * w:s]
                for i in range(self.size) for j in range(self.size)]

    def gather(self, x):
        if self.size == 1:
            return x.reshape(-1, x.shape[3])
        columns = np.empty((*self.output_size, self.size ** 2, x.shape[3]), FLOAT)
        for k, window in enumerate(self.windows(pad(x, self.pad))):
            columns[..., k, :] = window
        return columns.reshape(-1, self.size ** 2 * x.shape[3])

    def scatter(self, columns):
        n, h, w, c = self.input_shape
        if self.size == 1:
            return columns.reshape(self.input_shape)
        columns = columns.reshape(*self.output_size, self.size ** 2, c)
        padded = np.zeros((n, h + 2 * self.pad, w + 2 * self.pad, c), FLOAT)
        for k, window in enumerate(self.windows(padded)):
            window += columns[..., k, :]
        return padded[:, self.pad:self.pad + h, self.pad:self.pad + w]


class DepthwiseConv(Layer):
    """3x3, stride 1, one filter per channel."""

    def __init__(self, rng, channels):
        super().__init__()
        self.parameters["weight"] = (
            np.sqrt(2 / 9) * rng.standard_normal((9, channels))).astype(FLOAT)

    def forward(self, x, training):
        self.padded = pad(x, 1)
        self.positions = x.shape[1] * x.shape[2]
        weight = self.parameters["weight"]
        y = np.zeros_like(x)
        for k, window in enumerate(shifted(self.padded)):
            y += window * weight[k]
        return y

    def backward(self, dy):
        weight = self.parameters["weight"]
        gradient = np.empty_like(weight)
        dpadded = np.zeros_like(self.padded)
        for k, (window, target) in enumerate(zip(shifted(self.padded), shifted(dpadded))):
            gradient[k] = column_sums(window * dy)
            target += dy * weight[k]
        self.gradients["weight"] = gradient
        return dpadded[:, 1:-1, 1:-1]


class BatchNorm(Layer):
    EPSILON = 1e-5
    MOMENTUM = 0.95  # share of the old running statistics kept per step

    def __init__(self, channels):
        super().__init__()
        self.parameters["scale"] = np.ones(channels, FLOAT)
        self.parameters["bias"] = np.zeros(channels, FLOAT)
        self.statistics["mean"] = np.zeros(channels, FLOAT)
        self.statistics["variance"] = np.ones(channels, FLOAT)

    def forward(self, x, training):
        p, running = self.parameters, self.statistics
        if not training:
            factor = p["scale"] / np.sqrt(running["variance"] + self.EPSILON)
            return x * factor + (p["bias"] - running["mean"] * factor)
        count = x.size // x.shape[-1]
        mean = column_sums(x) / count
        centred = x - mean
        variance = column_sums(centred * centred) / count
        running["mean"] += (1 - self.MOMENTUM) * (mean - running["mean"])
        running["variance"] += (1 - self.MOMENTUM) * (variance - running["variance"])
        self.inverse = 1 / np.sqrt(variance + self.EPSILON)
        centred *= self.inverse
        self.normal = centred
        return self.normal * p["scale"] + p["bias"]

    def backward(self, dy):
        count = dy.size // dy.shape[-1]
        dbias = column_sums(dy)
        dscale = column_sums(dy * self.normal)
        self.gradients = {"scale": dscale, "bias": dbias}
        dx = self.normal * (-dscale / count)
        dx += dy
        dx -= dbias / count
        dx *= self.parameters["scale"] * self.inverse
        return dx


class Relu(Layer):
    def forward(self, x, training):
        y = np.maximum(x, 0)
        self.active = y > 0
        return y

    def backward(self, dy):
        return dy * self.active


class MaxPool(Layer):
    """2x2, stride 2.  Equal maxima share the gradient."""

    def forward(self, x, training):
        n, h, w, c = x.shape
        self.blocks = x.reshape(n, h // 2, 2, w // 2, 2, c)
        self.maximum = np.maximum(
            np.maximum(self.blocks[:, :, 0, :, 0], self.blocks[:, :, 0, :, 1]),
            np.maximum(self.blocks[:, :, 1, :, 0], self.blocks[:, :, 1, :, 1]))
        return self.maximum

    def backward(self, dy):
        winners = self.blocks == self.maximum[:, :, None, :, None]
        share = dy / winners.sum(axis=(2, 4), dtype=FLOAT)
        n, h, _, w, _, c = self.blocks.shape
        return (winners * share[:, :, None, :, None]).reshape(n, 2 * h, 2 * w, c)


class Residual(Layer):
    """x + body(x)."""

    def __init__(self, *body):
        super().__init__()
        self.body = body

    def children(self):
        return list(self.body)

    def forward(self, x, training):
        y = x
        for layer in self.body:
            y = layer.forward(y, training)
        return x + y

    def backward(self, dy):
        dx = dy
        for layer in reversed(self.body):
            dx = layer.backward(dx)
        return dx + dy


class GlobalAveragePool(Layer):
    def forward(self, x, training):
        self.shape = x.shape
        return x.mean(axis=(1, 2))

    def backward(self, dy):
        n, h, w, c = self.shape
        return np.broadcast_to(dy[:, None, None, :] / FLOAT(h * w), self.shape)


class Dense(Layer):
    positions = 1  # how often the weights are used per picture

    def __init__(self, rng, inputs, outputs):
        super().__init__()
        self.parameters["weight"] = (
            np.sqrt(1 / inputs) * rng.standard_normal((inputs, outputs))).astype(FLOAT)
        self.parameters["bias"] = np.zeros(outputs, FLOAT)

    def forward(self, x, training):
        self.input = x
        return x @ self.parameters["weight"] + self.parameters["bias"]

    def backward(self, dy):
        self.gradients = {"weight": self.input.T @ dy, "bias": dy.sum(axis=0)}
        return dy @ self.parameters["weight"].T


class Network:
    """32x32 grey picture -> one score per class."""

    def __init__(self, classes, rng):
        def conv_bn(inputs, outputs, size, stride=1):
            return [Conv(rng, inputs, outputs, size, stride), BatchNorm(outputs)]

        def depthwise_bn(channels):
            return [DepthwiseConv(rng, channels), BatchNorm(channels)]

        self.layers = [
            *conv_bn(1, 32, 5, stride=2), Relu(),                              # 16x16
            Residual(*depthwise_bn(32), Relu(), *conv_bn(32, 32, 1)), Relu(),
            MaxPool(),                                                         # 8x8
            *conv_bn(32, 64, 3), Relu(),
            Residual(*conv_bn(64, 64, 3), Relu(), *conv_bn(64, 64, 1)), Relu(),
            *conv_bn(64, 96, 1), Relu(),
            Residual(*depthwise_bn(96), Relu(), *conv_bn(96, 96, 1)), Relu(),
            GlobalAveragePool(),
            Dense(rng, 96, classes),
        ]

    def forward(self, pictures, training=False):
        """`pictures`: uint8 [batch, 32, 32]."""
        x = (pictures.astype(FLOAT) / FLOAT(255))[..., None]
        for layer in self.layers:
            x = layer.forward(x, training)
        return x

    def backward(self, dscores):
        for layer in reversed(self.layers):
            dscores = layer.backward(dscores)

    def flat_layers(self):
        return [child for layer in self.layers for child in layer.children()]

    def parameter_count(self):
        return sum(p.size for layer in self.flat_layers() for p in layer.parameters.values())

    def multiply_adds(self):
        """Of the convolutions and the dense layer, for one picture."""
        self.forward(np.zeros((1, 32, 32), np.uint8))
        return sum(layer.positions * layer.parameters["weight"].size
                   for layer in self.flat_layers() if "weight" in layer.parameters)

    def state(self):
        """A copy of everything a trained model consists of."""
        return [{k: v.copy() for k, v in (layer.parameters | layer.statistics).items()}
                for layer in self.flat_layers()]

    def load_state(self, state):
        for layer, saved in zip(self.flat_layers(), state):
            for name, value in (layer.parameters | layer.statistics).items():
                value[...] = saved[name]


def pad(x, margin):
    n, h, w, c = x.shape
    padded = np.zeros((n, h + 2 * margin, w + 2 * margin, c), FLOAT)
    padded[:, margin:margin + h, margin:margin + w] = x
    return padded


def shifted(padded):
    """The nine 3x3 neighbours of every pixel, as views."""
    h, w = padded.shape[1] - 2, padded.shape[2] - 2
    return [padded[:, i:i + h, j:j + w] for i in range(3) for j in range(3)]


def column_sums(x):
    """Sum over everything but the channels; as a matrix product, BLAS does it."""
    x = x.reshape(-1, x.shape[-1])
    return np.ones(len(x), FLOAT) @ x
