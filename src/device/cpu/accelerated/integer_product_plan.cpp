#include "device/cpu/accelerated/integer_product_plan.h"

#include <algorithm>
#include <limits>
#include <span>
#include <string>
#include <utility>

#include "device/cpu/dnnl/convolution.h"
#include "device/cpu/dnnl/traits.h"
#include "device/cpu/kernels/primitives.h"
#include "device/cpu/kernels/quantised/parameters.h"
#include "fallback/convolution.h"
#include "fallback/matrix_product.h"

namespace millrace::device::cpu::accelerated::integer_product {
namespace {

using fallback::NodeView;
using fallback::TensorView;
using graph::kNoValue;
using graph::ValueId;
using tensor::DataType;
using PrimitiveDesc = dnnl::convolution_forward::primitive_desc;

constexpr std::array<uint32_t, 4> kChannelsLast = {0, 2, 3, 1};

int32_t byte_at(const TensorView& bytes, size_t index) {
  return bytes.type == DataType::kInt8 ? bytes.as<int8_t>()[index] : bytes.as<uint8_t>()[index];
}

// One dimension is the second of two.
void read_pair(std::span<const int64_t> list, Shape::Pair& pair) {
  std::ranges::copy(list, pair.end() - static_cast<ptrdiff_t>(list.size()));
}

std::optional<Shape> shape_of_conv(const NodeView& node) {
  const auto extents = fallback::convolution_extents(node, node.in(kX), node.in(kWeights));
  if (!extents.ok() || extents->window.rank() > 2) return std::nullopt;
  Shape shape;
  shape.images = static_cast<int64_t>(extents->batch);
  shape.groups = static_cast<int64_t>(extents->groups);
  shape.inputs = static_cast<int64_t>(extents->inputs);
  shape.outputs = static_cast<int64_t>(extents->outputs);
  read_pair(node.in(kX).dims.subspan(2), shape.size);
  read_pair(extents->window.kernel, shape.kernel);
  read_pair(extents->window.strides, shape.strides);
  read_pair(extents->window.dilations, shape.dilations);
  read_pair(extents->window.pads_begin, shape.pads_begin);
  read_pair(extents->window.pads_end, shape.pads_end);
  read_pair(extents->positions, shape.positions);
  return shape;
}

// The shape of a product of [..., M, K] and one matrix [K, N].
std::optional<Shape> shape_of_matmul(const NodeView& node) {
  const auto product = fallback::product_of(node.in(kX), node.in(kWeights));
  if (!product.ok() || node.in(kWeights).elements() != product->depth * product->columns)
    return std::nullopt;
  Shape shape;
  shape.is_matrix = true;
  shape.inputs = static_cast<int64_t>(product->depth);
  shape.outputs = static_cast<int64_t>(product->columns);
  shape.size[1] = shape.positions[1] =
      static_cast<int64_t>(node.in(kX).elements() / product->depth);
  return shape;
}

// The weights less their zero points.
std::vector<int32_t> distances_of(const NodeView& node, const Shape& shape) {
  const auto rows = static_cast<size_t>(shape.output_channels());
  const auto filter = static_cast<size_t>(shape.filter());
  const bool has_zero = node.has(kWeightZero);
  const bool per_row = has_zero && node.in(kWeightZero).elements() > 1;
  std::vector<int32_t> distances(rows * filter);
  for (size_t row = 0; row < rows; ++row) {
    const int32_t zero = has_zero ? byte_at(node.in(kWeightZero), per_row ? row : 0) : 0;
    for (size_t i = 0; i < filter; ++i)
      distances[row * filter + i] =
          byte_at(node.in(kWeights), shape.is_matrix ? i * rows + row : row * filter + i) - zero;
  }
  return distances;
}

// Moves the numbers of each row into the range of INT8, and notes by how much.
void move_into_range(std::vector<int32_t>& distances, size_t filter, std::vector<int32_t>& zeros) {
  for (size_t row = 0; row * filter < distances.size(); ++row) {
    const auto numbers = std::span(distances).subspan(row * filter, filter);
    zeros.push_back(-128 - *std::ranges::min_element(numbers));
    for (int32_t& number : numbers) number += zeros.back();
  }
}

// Returns nothing if the weights of groups have zero points that do not fit.
std::optional<Weights> read_weights(const NodeView& node, const Shape& shape) {
  const auto filter = static_cast<size_t>(shape.filter());
  std::vector<int32_t> numbers = distances_of(node, shape);
  using Limits = std::numeric_limits<int8_t>;
  const bool fits = std::ranges::all_of(
      numbers, [](int32_t number) { return number >= Limits::min() && number <= Limits::max(); });
  Weights weights;
  if (!fits) {
    if (shape.groups > 1) return std::nullopt;
    move_into_range(numbers, filter, weights.zeros);
  }
  weights.elements.assign(numbers.begin(), numbers.end());
  for (size_t row = 0; row * filter < numbers.size(); ++row) {
    int32_t sum = 0;
    for (const int32_t number : std::span(numbers).subspan(row * filter, filter)) sum += number;
    weights.sums.push_back(sum);
  }
  if (!fits) weights.elements.insert(weights.elements.end(), filter, 1);
  return weights;
}

Dims sums_dims(const Shape& shape, const Weights& weights) {
  return {shape.images, weights.rows(), shape.positions[0], shape.positions[1]};
}

Dims weight_dims(const Shape& shape, const Weights& weights) {
  Dims dims = {weights.rows() / shape.groups, shape.inputs, shape.kernel[0], shape.kernel[1]};
  if (shape.groups > 1) dims.insert(dims.begin(), shape.groups);
  return dims;
}

// Whether the sums are exact. Without dot products of bytes oneDNN adds pairs of products in
// 16 bits, which saturate; and its kernels other than those by small matrix products take the sums
// through FLOAT32.
bool is_exact(const std::string& implementation, const Shape& shape, const Weights& weights) {
  if (!adds_bytes_exactly(implementation)) return false;
  if (is_brgemm(implementation) || is_brdgmm(implementation)) return true;
  return kernels::quantised::largest_sum(weights.elements, static_cast<size_t>(shape.filter())) <=
         kernels::quantised::kLargestExactSum;
}

std::optional<PrimitiveDesc> make_primitive(const Builder& builder, const Shape& shape,
                                            const Weights& weights) {
  const Dims dilations(shape.dilations.begin(), shape.dilations.end());
  const Dims strides(shape.strides.begin(), shape.strides.end());
  const Dims padding(2, 0);
  const auto choice = kernels::choose(std::vector<bool>{true}, [&](bool) {
    return find_convolution(
        builder.engine(), kernels::make_attributes(),
        {ordered_desc(image_dims(shape), ElementType::u8, kChannelsLast),
         any_desc(weight_dims(shape, weights), ElementType::s8), Desc(),
         ordered_desc(sums_dims(shape, weights), ElementType::s32, kChannelsLast), strides,
         dilations, padding, padding});
  });
  if (!choice || !is_exact(choice->primitive.impl_info_str(), shape, weights)) return std::nullopt;
  return choice->primitive;
}

// The product of a matrix with a window in each row, [images * positions, kernel..., inputs].
Shape unfolded(const Shape& shape) {
  Shape matrix;
  matrix.inputs = shape.filter();
  matrix.outputs = shape.outputs;
  matrix.size[1] = matrix.positions[1] = shape.images * shape.positions[0] * shape.positions[1];
  return matrix;
}

// Permutes [output channels, inputs, kernel...] to the order of the rows of that matrix.
Weights unfolded(Weights weights, const Shape& shape) {
  const auto inputs = static_cast<size_t>(shape.inputs);
  const auto filter = static_cast<size_t>(shape.filter()), taps = filter / inputs;
  std::vector<int8_t> elements(weights.elements.size());
  for (size_t i = 0; i < elements.size(); ++i) {
    const size_t row = i / filter, tap = i % filter / inputs, input = i % inputs;
    elements[i] = weights.elements[row * filter + input * taps + tap];
  }
  weights.elements = std::move(elements);
  return weights;
}

std::optional<Plan> choose_primitive(const Builder& builder, const Shape& shape, Weights weights) {
  if (auto primitive = make_primitive(builder, shape, weights))
    return Plan{shape, std::move(weights), *std::move(primitive)};
  constexpr int64_t kMostBytes = int64_t{64} << 20;
  const Shape matrix = unfolded(shape);
  if (shape.is_matrix || shape.groups > 1 || matrix.size[1] > kMostBytes / matrix.inputs)
    return std::nullopt;
  weights = unfolded(std::move(weights), shape);
  auto primitive = make_primitive(builder, matrix, weights);
  if (!primitive) return std::nullopt;
  return Plan{shape, std::move(weights), *std::move(primitive), true};
}

}  // namespace

Dims image_dims(const Shape& shape) {
  return {shape.images, shape.channels(), shape.padded(0), shape.padded(1)};
}

std::optional<Plan> make_plan(const Builder& builder, const AcceleratedNode& node) {
  const NodeView& view = node.view;
  const bool is_conv = view.op().name.find("Conv") != std::string::npos;
  const ValueId zero = node.input(kWeightZero);
  const bool is_fixed =
      builder.is_constant(node.input(kWeights)) && (zero == kNoValue || builder.is_constant(zero));
  const bool has_one_zero = !view.has(kXZero) || view.in(kXZero).elements() == 1;
  if (!is_fixed || !has_one_zero || view.in(kX).elements() == 0 ||
      view.in(kWeights).elements() == 0)
    return std::nullopt;
  auto shape = is_conv ? shape_of_conv(view) : shape_of_matmul(view);
  if (!shape || !shape->has_sane_padding()) return std::nullopt;
  auto weights = read_weights(view, *shape);
  if (!weights) return std::nullopt;
  return choose_primitive(builder, *shape, *std::move(weights));
}

}  // namespace millrace::device::cpu::accelerated::integer_product
