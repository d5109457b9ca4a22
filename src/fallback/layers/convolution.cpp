// Convolutions that the Conv of the graph does not support: ConvTranspose, ConvInteger,
// QLinearConv, millrace.ConvIntegerToFloat (ConvInteger with scale and bias), and Conv for FLOAT64
// and images without channels. All are direct convolutions that go tap by tap: for each input
// channel and kernel element, WindowWalk yields the pairs of input and output elements. The kernels
// for integers gather the input of a tap once for a block of output channels.
#include "fallback/convolution.h"

#include <fmt/format.h>

#include <algorithm>

#include "fallback/common_shapes.h"
#include "fallback/element.h"
#include "fallback/families.h"
#include "tensor/element.h"

namespace millrace::fallback {
namespace {

std::span<const int64_t> spatial(const TensorView& x) {
  return x.dims.subspan(2);
}

Result<size_t> groups_of(const NodeView& node) {
  const int64_t groups = node.integer("group", 1);
  if (groups < 1) return invalid_argument("group must be positive");
  return static_cast<size_t>(groups);
}

}  // namespace

Result<ConvolutionExtents> convolution_extents(const NodeView& node, const TensorView& x,
                                               const TensorView& weights) {
  if (x.rank() < 3 || weights.rank() != x.rank())
    return invalid_argument("input and weights must have the same rank, at least 3");
  ConvolutionExtents extents;
  MILLRACE_ASSIGN_OR_RETURN(extents.window,
                            read_window(node, spatial(x), to_dims(spatial(weights))));
  MILLRACE_ASSIGN_OR_RETURN(extents.positions, positions_of(extents.window, spatial(x)));
  MILLRACE_ASSIGN_OR_RETURN(extents.groups, groups_of(node));
  extents.batch = static_cast<size_t>(x.dims[0]);
  extents.inputs = static_cast<size_t>(weights.dims[1]);
  extents.outputs = static_cast<size_t>(weights.dims[0]) / extents.groups;
  const bool fits = static_cast<size_t>(x.dims[1]) == extents.groups * extents.inputs &&
                    static_cast<size_t>(weights.dims[0]) == extents.output_channels();
  if (!fits) return invalid_argument("the weights do not fit the channels and groups");
  return extents;
}

namespace {

Dims output_dims(const ConvolutionExtents& extents) {
  Dims dims = {static_cast<int64_t>(extents.batch),
               static_cast<int64_t>(extents.output_channels())};
  dims.insert(dims.end(), extents.positions.begin(), extents.positions.end());
  return dims;
}

Status check_per_channel(const NodeView& node, size_t index, DataType type, size_t channels) {
  if (!node.has(index)) return {};
  const TensorView& parameter = node.in(index);
  const size_t count = parameter.elements();
  if (parameter.type == type && (count == 1 || count == channels)) return {};
  return invalid_argument(
      fmt::format("input {} must be one {}, or one per output channel", index, to_string(type)));
}

Status check_single(const NodeView& node, size_t index, DataType type) {
  return check_per_channel(node, index, type, 1);
}

// The indices of the operands among the inputs of a node.
struct Operands {
  size_t x, weights, x_zero, w_zero;
};

// The number of output channels that share the input gathered for a tap. Their sums stay in the
// cache.
constexpr size_t kChannelBlock = 8;

// Gathers the input under one tap for all positions, with the zero point subtracted; 0 in the
// padding.
template <class X>
void gather(const WindowWalk& walk, size_t tap, const X* plane, X x_zero,
            std::span<int16_t> distances) {
  const size_t stride = walk.row_stride();
  std::ranges::fill(distances, 0);
  walk.for_each_row(tap, [&](size_t dense, size_t strided, size_t count) {
    for (size_t i = 0; i < count; ++i)
      distances[dense + i] = static_cast<int16_t>(plane[strided + i * stride] - x_zero);
  });
}

// Adds a tap to the sums of one channel. Differences of bytes have 9 bits, and compilers vectorise
// products of 16-bit integers.
void add_scaled(int16_t weight, std::span<const int16_t> distances, int32_t* sums) {
  for (size_t i = 0; i < distances.size(); ++i) {
    const int32_t term = int32_t{weight} * distances[i];
    sums[i] = reference::Add{}(sums[i], term);
  }
}

// Convolves `count` output channels of one group, from `first` on, without bias: for each position
// the sum of (x - x_zero) * (w - w_zero). `x` is the first input channel of the group.
template <class X, class W>
void convolve_channels(const Call& call, const ConvolutionExtents& extents,
                       const Operands& operands, const WindowWalk& walk, const X* x, size_t first,
                       size_t count, std::span<int32_t> sums, std::span<int16_t> distances) {
  const auto taps = static_cast<size_t>(extents.window.taps());
  const size_t filter = extents.inputs * taps, positions = walk.dense_size();
  const W* const weights = call.in(operands.weights).as<W>().data() + first * filter;
  std::ranges::fill(sums, 0);
  for (size_t at = 0; at < filter; ++at) {
    gather(walk, at % taps, x + at / taps * walk.strided_size(),
           parameter_at<X>(call, operands.x_zero, 0), distances);
    for (size_t i = 0; i < count; ++i) {
      const W zero = parameter_at<W>(call, operands.w_zero, first + i);
      const auto weight = static_cast<int16_t>(weights[i * filter + at] - zero);
      if (weight != 0) add_scaled(weight, distances, sums.data() + i * positions);
    }
  }
}

// Convolves bytes, and calls store(output channel, position in the whole output, sum) for all
// elements.
template <class X, class W, class Store>
void convolve(const Call& call, const ConvolutionExtents& extents, const Operands& operands,
              Store&& store) {
  const TensorView& x = call.in(operands.x);
  const WindowWalk walk(extents.window, extents.positions, spatial(x));
  const size_t positions = walk.dense_size();
  std::vector<int32_t> sums(std::min(kChannelBlock, extents.outputs) * positions);
  std::vector<int16_t> distances(positions);
  size_t position = 0;
  for (size_t group = 0; group < extents.batch * extents.groups; ++group) {
    const X* const inputs = x.as<X>().data() + group * extents.inputs * walk.strided_size();
    for (size_t done = 0; done < extents.outputs; done += kChannelBlock) {
      const size_t first = group % extents.groups * extents.outputs + done;
      const size_t count = std::min(kChannelBlock, extents.outputs - done);
      convolve_channels<X, W>(call, extents, operands, walk, inputs, first, count, sums, distances);
      for (size_t i = 0; i < count * positions; ++i)
        store(first + i / positions, position++, sums[i]);
    }
  }
}

Status shape_of_conv(Inference& node) {
  MILLRACE_RETURN_IF_ERROR(check_one_type(node));
  MILLRACE_ASSIGN_OR_RETURN(const ConvolutionExtents extents,
                            convolution_extents(node, node.in(0), node.in(1)));
  if (node.has(2) && (node.in(2).rank() != 1 || node.in(2).elements() != extents.output_channels()))
    return invalid_argument("the bias must have one element per output channel");
  node.set(0, node.in(0).type, output_dims(extents));
  return {};
}

// The number of products in a partial sum, which is then added to the result.
constexpr size_t kSumBlock = 128;

// Adds the input under one tap, times its weight, to the sums, with one rounding per addition as by
// a fused multiply-add. Products of FLOAT32 are exact in double.
template <class T>
void add_tap(const WindowWalk& walk, size_t tap, const T* plane, T weight, std::span<T> sums) {
  const size_t stride = walk.row_stride();
  walk.for_each_row(tap, [&](size_t dense, size_t strided, size_t count) {
    for (size_t i = 0; i < count; ++i)
      sums[dense + i] =
          static_cast<T>(double{sums[dense + i]} + double{weight} * plane[strided + i * stride]);
  });
}

// Computes one output channel, without bias, with the order of summation of a matrix product
// (im2col and GEMM): products in the order of the weights, by fused multiply-add, in blocks. The
// order is fixed because the results of quantised models depend on it: a sum near the middle
// between two quantised values rounds to either of them, and later layers amplify the difference.
template <class T>
void convolve_reals(const ConvolutionExtents& extents, const WindowWalk& walk, const T* x,
                    const T* weights, std::span<T> y, std::span<T> block) {
  const auto taps = static_cast<size_t>(extents.window.taps());
  const size_t filter = extents.inputs * taps;
  std::ranges::fill(y, T{0});
  for (size_t first = 0; first < filter; first += kSumBlock) {
    std::ranges::fill(block, T{0});
    for (size_t at = first; at < std::min(first + kSumBlock, filter); ++at)
      add_tap(walk, at % taps, x + at / taps * walk.strided_size(), weights[at], block);
    for (size_t i = 0; i < y.size(); ++i) y[i] += block[i];
  }
}

Status conv(const Call& call) {
  const TensorView &x = call.in(0), &weights = call.in(1);
  MILLRACE_ASSIGN_OR_RETURN(const ConvolutionExtents extents,
                            convolution_extents(call, x, weights));
  const WindowWalk walk(extents.window, extents.positions, spatial(x));
  const size_t filter = extents.inputs * static_cast<size_t>(extents.window.taps());
  const size_t channels = extents.output_channels(), positions = walk.dense_size();
  return visit_floating(x.type, [&](auto zero) -> Status {
    using T = decltype(zero);
    std::vector<T> block(positions);
    for (size_t i = 0; i < extents.batch * channels; ++i) {
      const size_t channel = i % channels, n = i / channels;
      const size_t first = (n * extents.groups + channel / extents.outputs) * extents.inputs;
      const std::span<T> y = call.out(0).as<T>().subspan(i * positions, positions);
      convolve_reals<T>(extents, walk, x.as<T>().data() + first * walk.strided_size(),
                        weights.as<T>().data() + channel * filter, y, block);
      const T bias = parameter_at<T>(call, 2, channel);
      for (T& sum : y) sum += bias;
    }
    return {};
  });
}

constexpr Operands kOfConvInteger = {0, 1, 2, 3};

Status shape_of_conv_integer(Inference& node) {
  if (!kBytes.contains(node.in(1).type)) return invalid_argument("weights must be INT8 or UINT8");
  MILLRACE_ASSIGN_OR_RETURN(const ConvolutionExtents extents,
                            convolution_extents(node, node.in(0), node.in(1)));
  MILLRACE_RETURN_IF_ERROR(check_single(node, 2, node.in(0).type));
  MILLRACE_RETURN_IF_ERROR(check_per_channel(node, 3, node.in(1).type, extents.output_channels()));
  node.set(0, DataType::kInt32, output_dims(extents));
  return {};
}

Status conv_integer(const Call& call) {
  MILLRACE_ASSIGN_OR_RETURN(const ConvolutionExtents extents,
                            convolution_extents(call, call.in(0), call.in(1)));
  const auto y = call.out(0).as<int32_t>();
  return visit_bytes(call.in(0).type, call.in(1).type, [&](auto x, auto w) -> Status {
    convolve<decltype(x), decltype(w)>(call, extents, kOfConvInteger,
                                       [&](size_t, size_t at, int32_t sum) { y[at] = sum; });
    return {};
  });
}

// Inputs of ConvIntegerToFloat: the sums become FLOAT32, times a scale, plus a bias. Scale and bias
// have one element, or one per output channel.
constexpr size_t kScale = 4, kSumBias = 5;

Status shape_of_conv_integer_to_float(Inference& node) {
  MILLRACE_RETURN_IF_ERROR(shape_of_conv_integer(node));
  MILLRACE_ASSIGN_OR_RETURN(const ConvolutionExtents extents,
                            convolution_extents(node, node.in(0), node.in(1)));
  if (!node.has(kScale)) return invalid_argument("the scale is missing");
  const size_t channels = extents.output_channels();
  MILLRACE_RETURN_IF_ERROR(check_per_channel(node, kScale, DataType::kFloat32, channels));
  MILLRACE_RETURN_IF_ERROR(check_per_channel(node, kSumBias, DataType::kFloat32, channels));
  node.set(0, DataType::kFloat32, output_dims(extents));
  return {};
}

Status conv_integer_to_float(const Call& call) {
  MILLRACE_ASSIGN_OR_RETURN(const ConvolutionExtents extents,
                            convolution_extents(call, call.in(0), call.in(1)));
  const auto y = call.out(0).as<float>();
  return visit_bytes(call.in(0).type, call.in(1).type, [&](auto x, auto w) -> Status {
    convolve<decltype(x), decltype(w)>(
        call, extents, kOfConvInteger, [&](size_t channel, size_t at, int32_t sum) {
          y[at] = static_cast<float>(sum) * parameter_at<float>(call, kScale, channel);
          if (call.has(kSumBias)) y[at] += parameter_at<float>(call, kSumBias, channel);
        });
    return {};
  });
}

constexpr Operands kOfQLinear = {0, 3, 2, 5};
constexpr size_t kXScale = 1, kWeightScale = 4, kYScale = 6, kYZero = 7, kBias = 8;

Status shape_of_qlinear_conv(Inference& node) {
  const TensorView &x = node.in(0), &weights = node.in(3);
  if (!kBytes.contains(weights.type) || !kBytes.contains(node.in(kYZero).type))
    return invalid_argument("weights and result must be INT8 or UINT8");
  MILLRACE_ASSIGN_OR_RETURN(const ConvolutionExtents extents,
                            convolution_extents(node, x, weights));
  const size_t channels = extents.output_channels();
  MILLRACE_RETURN_IF_ERROR(check_single(node, kXScale, DataType::kFloat32));
  MILLRACE_RETURN_IF_ERROR(check_single(node, kOfQLinear.x_zero, x.type));
  MILLRACE_RETURN_IF_ERROR(check_per_channel(node, kWeightScale, DataType::kFloat32, channels));
  MILLRACE_RETURN_IF_ERROR(check_per_channel(node, kOfQLinear.w_zero, weights.type, channels));
  MILLRACE_RETURN_IF_ERROR(check_single(node, kYScale, DataType::kFloat32));
  MILLRACE_RETURN_IF_ERROR(check_single(node, kYZero, node.in(kYZero).type));
  MILLRACE_RETURN_IF_ERROR(check_per_channel(node, kBias, DataType::kInt32, channels));
  node.set(0, node.in(kYZero).type, output_dims(extents));
  return {};
}

template <class X, class W, class Y>
void qlinear_conv_of(const Call& call, const ConvolutionExtents& extents) {
  const float x_scale = call.in(kXScale).as<float>()[0], y_scale = call.in(kYScale).as<float>()[0];
  const tensor::ElementRule rule{y_scale, static_cast<int32_t>(call.in(kYZero).as<Y>()[0]), false};
  const auto y = call.out(0).as<Y>();
  convolve<X, W>(call, extents, kOfQLinear, [&](size_t channel, size_t at, int32_t sum) {
    const int32_t biased = reference::Add{}(sum, parameter_at<int32_t>(call, kBias, channel));
    const float scale = x_scale * parameter_at<float>(call, kWeightScale, channel);
    y[at] = tensor::quantise<Y>(static_cast<float>(biased) * scale, rule);
  });
}

Status qlinear_conv(const Call& call) {
  MILLRACE_ASSIGN_OR_RETURN(const ConvolutionExtents extents,
                            convolution_extents(call, call.in(0), call.in(3)));
  return visit_bytes(call.in(0).type, call.in(3).type, [&](auto x, auto w) -> Status {
    if (call.out(0).type == DataType::kInt8)
      qlinear_conv_of<decltype(x), decltype(w), int8_t>(call, extents);
    else
      qlinear_conv_of<decltype(x), decltype(w), uint8_t>(call, extents);
    return {};
  });
}

// Computes the size of the output and the padding. The attributes output_shape and auto_pad
// determine the padding.
Status settle_output(const NodeView& node, std::span<const int64_t> input,
                     TransposedExtents& extents) {
  const size_t rank = input.size();
  SpatialWindow& window = extents.window;
  const Dims* const stated = node.integers("output_shape");
  const Dims* const more = node.integers("output_padding");
  if ((stated != nullptr && stated->size() != rank) || (more != nullptr && more->size() != rank))
    return invalid_argument("output_shape and output_padding must be as long as kernel_shape");
  const auto in_range = [](int64_t size) { return size >= 1 && size <= graph::kMaxElements; };
  if (stated != nullptr && !std::ranges::all_of(*stated, in_range))
    return invalid_argument("output_shape is out of range");
  const std::string automatic = node.text("auto_pad", "NOTSET");
  const bool same = automatic.starts_with("SAME");
  for (size_t d = 0; d < rank; ++d) {
    const int64_t rest = more != nullptr ? (*more)[d] : 0;
    if (rest < 0 || rest >= std::max(window.strides[d], window.dilations[d]))
      return invalid_argument("output_padding must be from 0 to less than stride or dilation");
    const int64_t whole = (input[d] - 1) * window.strides[d] + rest + window.extent(d);
    int64_t size = whole - window.pads_begin[d] - window.pads_end[d];
    if (stated != nullptr || same) {
      size = stated != nullptr ? (*stated)[d] : input[d] * window.strides[d];
      const int64_t total = std::max<int64_t>(0, whole - size);
      window.pads_begin[d] = automatic == "SAME_UPPER" ? total / 2 : total - total / 2;
      window.pads_end[d] = total - window.pads_begin[d];
    }
    if (size < 1) return invalid_argument("the output is empty");
    extents.output.push_back(size);
  }
  return {};
}

}  // namespace

Result<TransposedExtents> transposed_extents(const NodeView& node) {
  const TensorView &x = node.in(0), &weights = node.in(1);
  if (x.rank() < 3 || weights.rank() != x.rank())
    return invalid_argument("input and weights must have the same rank, at least 3");
  TransposedExtents extents;
  MILLRACE_ASSIGN_OR_RETURN(extents.window,
                            read_window(node, spatial(x), to_dims(spatial(weights))));
  MILLRACE_RETURN_IF_ERROR(settle_output(node, spatial(x), extents));
  MILLRACE_ASSIGN_OR_RETURN(extents.groups, groups_of(node));
  extents.batch = static_cast<size_t>(x.dims[0]);
  extents.inputs = static_cast<size_t>(weights.dims[0]) / extents.groups;
  extents.outputs = static_cast<size_t>(weights.dims[1]);
  const bool fits = x.dims[1] == weights.dims[0] &&
                    static_cast<size_t>(x.dims[1]) == extents.groups * extents.inputs;
  if (!fits) return invalid_argument("the weights do not fit the channels and groups");
  return extents;
}

namespace {

Status shape_of_conv_transpose(Inference& node) {
  MILLRACE_RETURN_IF_ERROR(check_one_type(node));
  MILLRACE_ASSIGN_OR_RETURN(const TransposedExtents extents, transposed_extents(node));
  const size_t channels = extents.groups * extents.outputs;
  if (node.has(2) && (node.in(2).rank() != 1 || node.in(2).elements() != channels))
    return invalid_argument("the bias must have one element per output channel");
  Dims dims = {node.in(0).dims[0], static_cast<int64_t>(channels)};
  dims.insert(dims.end(), extents.output.begin(), extents.output.end());
  node.set(0, node.in(0).type, std::move(dims));
  return {};
}

// Computes one output channel: every input element adds a scaled kernel to the output.
template <class T>
void transpose_channel(const TransposedExtents& extents, const WindowWalk& walk, const T* x,
                       const T* weights, std::span<T> y) {
  const auto taps = static_cast<size_t>(extents.window.taps());
  const size_t stride = walk.row_stride();
  for (size_t input = 0; input < extents.inputs; ++input) {
    const T* const plane = x + input * walk.dense_size();
    for (size_t tap = 0; tap < taps; ++tap) {
      const T weight = weights[input * extents.outputs * taps + tap];
      walk.for_each_row(tap, [&](size_t dense, size_t strided, size_t count) {
        for (size_t i = 0; i < count; ++i) y[strided + i * stride] += weight * plane[dense + i];
      });
    }
  }
}

Status conv_transpose(const Call& call) {
  MILLRACE_ASSIGN_OR_RETURN(const TransposedExtents extents, transposed_extents(call));
  const TensorView &x = call.in(0), &weights = call.in(1);
  const WindowWalk walk(extents.window, spatial(x), extents.output);
  const auto taps = static_cast<size_t>(extents.window.taps());
  const size_t channels = extents.groups * extents.outputs;
  return visit_floating(x.type, [&](auto zero) -> Status {
    using T = decltype(zero);
    for (size_t i = 0; i < extents.batch * channels; ++i) {
      const size_t channel = i % channels, group = channel / extents.outputs;
      const size_t first_input = group * extents.inputs;
      const auto y = call.out(0).as<T>().subspan(i * walk.strided_size(), walk.strided_size());
      std::ranges::fill(y, call.has(2) ? call.in(2).as<T>()[channel] : T{0});
      const size_t plane = i / channels * extents.groups * extents.inputs + first_input;
      const size_t filter = first_input * extents.outputs + channel % extents.outputs;
      transpose_channel<T>(extents, walk, x.as<T>().data() + plane * walk.dense_size(),
                           weights.as<T>().data() + filter * taps, y);
    }
    return {};
  });
}

constexpr AttributeSpec kConv[] = {
    {"auto_pad", AttributeKind::kText}, {"dilations", AttributeKind::kIntegers},
    {"group", AttributeKind::kInteger}, {"kernel_shape", AttributeKind::kIntegers},
    {"pads", AttributeKind::kIntegers}, {"strides", AttributeKind::kIntegers}};
constexpr AttributeSpec kConvTranspose[] = {
    {"auto_pad", AttributeKind::kText},           {"dilations", AttributeKind::kIntegers},
    {"group", AttributeKind::kInteger},           {"kernel_shape", AttributeKind::kIntegers},
    {"output_padding", AttributeKind::kIntegers}, {"output_shape", AttributeKind::kIntegers},
    {"pads", AttributeKind::kIntegers},           {"strides", AttributeKind::kIntegers}};

}  // namespace

std::span<const OperatorSpec> convolution_operators() noexcept {
  static constexpr OperatorSpec kOperators[] = {
      {"Conv", 1, {2, 3}, {}, kReals, shape_of_conv, conv, kConv},
      {"ConvInteger", 10, {2, 4}, {}, kBytes, shape_of_conv_integer, conv_integer, kConv},
      {"ConvTranspose",
       1,
       {2, 3},
       {},
       kReals,
       shape_of_conv_transpose,
       conv_transpose,
       kConvTranspose},
      {"QLinearConv", 10, {8, 9}, {}, kBytes, shape_of_qlinear_conv, qlinear_conv, kConv},
      {"millrace.ConvIntegerToFloat",
       1,
       {2, 6},
       {},
       kBytes,
       shape_of_conv_integer_to_float,
       conv_integer_to_float,
       kConv},
  };
  return kOperators;
}

}  // namespace millrace::fallback
