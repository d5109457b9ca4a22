// Convolutions and matrix products of bytes, as one primitive: the library's convolution of UINT8
// by INT8, with channels last. A matrix product is a convolution of one row of pixels by a kernel
// of one tap.
//
// The primitive multiplies what the bytes say; zero points come in afterwards, in integers:
//
//   sum (x - x0) (w - w0) = sum x w - w0 sum x - x0 sum w + n x0 w0
//
// INT8 operands are shifted to UINT8, which is another zero point; the sum of w is known when the
// weights are packed. The sum of x is one more output channel, whose weights are all 1, and needed
// only where w - w0 does not fit into INT8. Padding counts as the zero point of x, so the image is
// copied into a frame of it. Where all the library has is a kernel whose sums are not exact,
// windows are copied, too, each into a row of a matrix. So the results are those of the plain
// kernel bit by bit.
#include "device/cpu/fast/integer_products.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "device/cpu/fast/fast.h"
#include "device/cpu/fast/integer_loops.h"
#include "device/cpu/fast/operands.h"
#include "device/cpu/kernels/primitives.h"
#include "fallback/convolution.h"
#include "fallback/element.h"
#include "fallback/matrix_product.h"

namespace millrace::device::cpu::fast {
namespace {

using fallback::NodeView;
using fallback::TensorView;
using graph::kNoValue;
using graph::ValueId;
using tensor::DataType;
using PrimitiveDesc = dnnl::convolution_forward::primitive_desc;

// Operands of ConvInteger and MatMulInteger; scale and bias are those of the ...ToFloat operators.
constexpr size_t kX = 0, kWeights = 1, kXZero = 2, kWeightZero = 3, kScale = 4, kBias = 5;
constexpr std::array<uint32_t, 4> kChannelsLast = {0, 2, 3, 1};

// A convolution of images with two spatial dimensions.
struct Shape {
  using Pair = std::array<int64_t, 2>;
  int64_t images = 1, groups = 1, inputs = 1, outputs = 1;  // channels of one group
  Pair size{1, 1}, kernel{1, 1}, strides{1, 1}, dilations{1, 1}, pads_begin{}, pads_end{};
  Pair positions{1, 1};
  // Whether the operand's own order is with channels last, which a matrix is.
  bool is_matrix = false;

  int64_t channels() const { return groups * inputs; }
  int64_t output_channels() const { return groups * outputs; }
  int64_t filter() const { return inputs * kernel[0] * kernel[1]; }
  int64_t padded(size_t d) const { return pads_begin[d] + size[d] + pads_end[d]; }
  bool is_padded() const { return padded(0) != size[0] || padded(1) != size[1]; }
  // Padding may be any number of times as large as the image.
  bool has_sane_padding() const {
    constexpr int64_t kMost = 16;
    for (size_t d = 0; d < 2; ++d)
      if (padded(d) > kMost * (size[d] + positions[d])) return false;
    return true;
  }
};

// Weights [output channels, filter] as INT8, less their zero points where that is possible.
struct Weights {
  std::vector<int8_t> elements;  // with a row of ones at the end where there are zero points
  std::vector<int32_t> sums;     // by output channel
  std::vector<int32_t> zeros;    // by output channel; empty: all 0

  int64_t rows() const { return static_cast<int64_t>(sums.size() + (zeros.empty() ? 0 : 1)); }
};

struct Plan {
  Shape shape;
  Weights weights;
  PrimitiveDesc primitive;
  bool is_unfolded = false;  // the primitive multiplies windows that are rows of a matrix
};

int32_t byte_at(const TensorView& bytes, size_t index) {
  return bytes.type == DataType::kInt8 ? bytes.as<int8_t>()[index] : bytes.as<uint8_t>()[index];
}

// 128 for INT8, whose bits are those of the number plus that with the highest one flipped.
uint8_t shift_of(DataType type) {
  return type == DataType::kInt8 ? 0x80 : 0;
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

// Of [..., M, K] by one matrix [K, N].
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

// Nothing where the weights of groups have zero points that do not fit.
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

Dims image_dims(const Shape& shape) {
  return {shape.images, shape.channels(), shape.padded(0), shape.padded(1)};
}

Dims sums_dims(const Shape& shape, const Weights& weights) {
  return {shape.images, weights.rows(), shape.positions[0], shape.positions[1]};
}

Dims weight_dims(const Shape& shape, const Weights& weights) {
  Dims dims = {weights.rows() / shape.groups, shape.inputs, shape.kernel[0], shape.kernel[1]};
  if (shape.groups > 1) dims.insert(dims.begin(), shape.groups);
  return dims;
}

// The largest sum that UINT8 operands can give.
int64_t largest_sum(const Weights& weights, size_t filter) {
  int64_t largest = 0;
  for (size_t row = 0; row < weights.elements.size(); row += filter) {
    int64_t positive = 0, negative = 0;
    for (const int8_t element : std::span(weights.elements).subspan(row, filter))
      (element > 0 ? positive : negative) += element;
    largest = std::max({largest, positive * 255, negative * -255});
  }
  return largest;
}

// Whether the sums are exact. Without dot products of bytes the library adds pairs of products in
// 16 bits, which saturate; and its kernels other than those by small matrix products take the sums
// through FLOAT32.
bool is_exact(const std::string& implementation, const Shape& shape, const Weights& weights) {
  const auto names = [&](const char* part) {
    return implementation.find(part) != std::string::npos;
  };
  if (!names("vnni") && !names("amx_int8")) return false;
  if (names("brg") || names("brdgmm")) return true;
  constexpr int64_t kExactInFloat = 1 << 24;
  return largest_sum(weights, static_cast<size_t>(shape.filter())) <= kExactInFloat;
}

std::optional<PrimitiveDesc> make_primitive(const Builder& builder, const Shape& shape,
                                            const Weights& weights) {
  Dims dilations(shape.dilations.begin(), shape.dilations.end());
  for (int64_t& dilation : dilations) --dilation;
  const Dims strides(shape.strides.begin(), shape.strides.end());
  const auto choice = kernels::choose(std::vector<bool>{true}, [&](bool) {
    const dnnl::convolution_forward::desc desc(
        dnnl::prop_kind::forward_inference, dnnl::algorithm::convolution_direct,
        ordered_desc(image_dims(shape), ElementType::u8, kChannelsLast),
        any_desc(weight_dims(shape, weights), ElementType::s8), Desc(),
        ordered_desc(sums_dims(shape, weights), ElementType::s32, kChannelsLast), strides,
        dilations, {0, 0}, {0, 0});
    return PrimitiveDesc(desc, kernels::make_attributes(), builder.engine(), /*allow_empty=*/true);
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

// From [output channels, inputs, kernel...] to the order of the rows of that matrix.
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

// Nothing where there is no kernel for the variant. Weights and their zero points are constants,
// and x has one zero point.
std::optional<Plan> make_plan(const Builder& builder, const FastNode& node) {
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

// The bytes in one order, with the dimensions of the value.
Desc channels_last(const Dims& dims, ElementType type) {
  return dims.size() == 3 ? ordered_desc(dims, type, std::array<uint32_t, 3>{0, 2, 1})
                          : ordered_desc(dims, type, kChannelsLast);
}

// Copies images of bytes into their frame of zero points, as UINT8 with channels last.
class FrameStep final : public Step {
 public:
  struct Buffers {
    BufferId from, to;
    std::optional<BufferId> zero;
  };
  FrameStep(const Shape& shape, bool is_channels_last, DataType type, const Buffers& buffers)
      : shape_(shape),
        is_channels_last_(is_channels_last),
        shift_(shift_of(type)),
        buffers_(buffers) {}

  std::vector<BufferId> buffers() const override {
    std::vector<BufferId> ids = {buffers_.from, buffers_.to};
    if (buffers_.zero) ids.push_back(*buffers_.zero);
    return ids;
  }

  Status run(const RunState& state) const noexcept override {
    const uint8_t zero = (buffers_.zero ? *state.input<uint8_t>(*buffers_.zero) : 0) ^ shift_;
    const size_t before = channels() * static_cast<size_t>(shape_.pads_begin[1]);
    const size_t row = channels() * columns();
    const size_t after = channels() * static_cast<size_t>(shape_.pads_end[1]);
    const auto above = static_cast<size_t>(shape_.pads_begin[0]) * (before + row + after);
    const auto below = static_cast<size_t>(shape_.pads_end[0]) * (before + row + after);
    uint8_t* to = state.output<uint8_t>(buffers_.to);
    const auto fill = [&](size_t count) {
      std::memset(to, zero, count);
      to += count;
    };
    for (size_t image = 0; image < static_cast<size_t>(shape_.images); ++image) {
      const uint8_t* const from = state.input<uint8_t>(buffers_.from) + image * rows() * row;
      fill(above);
      for (size_t y = 0; y < rows(); ++y) {
        fill(before);
        copy_row(from, y, to);
        to += row;
        fill(after);
      }
      fill(below);
    }
    return {};
  }

 private:
  size_t channels() const { return static_cast<size_t>(shape_.channels()); }
  size_t rows() const { return static_cast<size_t>(shape_.size[0]); }
  size_t columns() const { return static_cast<size_t>(shape_.size[1]); }

  void copy_row(const uint8_t* from, size_t y, uint8_t* to) const {
    if (!is_channels_last_) return transpose_row(from + y * columns(), to);
    const size_t count = columns() * channels();
    for (size_t i = 0; i < count; ++i) to[i] = from[y * count + i] ^ shift_;
  }

  // As many channels at a time as fill a vector.
  void transpose_row(const uint8_t* from, uint8_t* to) const {
    constexpr size_t kBlock = 16;
    const size_t plane = rows() * columns();
    for (size_t begin = 0; begin < channels(); begin += kBlock) {
      const size_t end = std::min(begin + kBlock, channels());
      for (size_t x = 0; x < columns(); ++x)
        for (size_t c = begin; c < end; ++c) to[x * channels() + c] = from[c * plane + x] ^ shift_;
    }
  }

  const Shape shape_;
  const bool is_channels_last_;
  const uint8_t shift_;
  const Buffers buffers_;
};

// Copies what each window of a framed image holds into a row of a matrix.
class UnfoldStep final : public Step {
 public:
  UnfoldStep(const Shape& shape, BufferId from, BufferId to)
      : shape_(shape), from_(from), to_(to) {}

  std::vector<BufferId> buffers() const override { return {from_, to_}; }

  Status run(const RunState& state) const noexcept override {
    const uint8_t* from = state.input<uint8_t>(from_);
    uint8_t* to = state.output<uint8_t>(to_);
    for (int64_t image = 0; image < shape_.images; ++image) {
      for (int64_t y = 0; y < shape_.positions[0]; ++y)
        for (int64_t x = 0; x < shape_.positions[1]; ++x)
          to = copy_window(from, y * shape_.strides[0], x * shape_.strides[1], to);
      from += shape_.padded(0) * shape_.padded(1) * shape_.inputs;
    }
    return {};
  }

 private:
  uint8_t* copy_window(const uint8_t* image, int64_t top, int64_t left, uint8_t* to) const {
    const auto inputs = static_cast<size_t>(shape_.inputs);
    for (int64_t i = 0; i < shape_.kernel[0]; ++i)
      for (int64_t k = 0; k < shape_.kernel[1]; ++k, to += inputs) {
        const int64_t y = top + i * shape_.dilations[0], x = left + k * shape_.dilations[1];
        std::memcpy(to, image + (y * shape_.padded(1) + x) * shape_.inputs, inputs);
      }
    return to;
  }

  const Shape shape_;
  const BufferId from_, to_;
};

// Brings the zero points into the sums, and scales them where the result is FLOAT32.
class CompleteStep final : public Step {
 public:
  struct Buffers {
    BufferId sums, to;
    BufferId offsets, scales, biases;  // memory for one number per output channel
    std::optional<BufferId> zero, scale, bias;
  };
  enum class Result { kFloats, kIntegers, kTransposedIntegers };

  CompleteStep(const Plan& plan, DataType type, Result result, bool scale_per_channel,
               bool bias_per_channel, const Buffers& buffers)
      : images_(static_cast<size_t>(plan.shape.images)),
        positions_(static_cast<size_t>(plan.shape.positions[0] * plan.shape.positions[1])),
        stride_(static_cast<size_t>(plan.weights.rows())),
        filter_(static_cast<uint32_t>(plan.shape.filter())),
        weight_sums_(plan.weights.sums),
        zeros_(plan.weights.zeros),
        type_(type),
        result_(result),
        scale_per_channel_(scale_per_channel),
        bias_per_channel_(bias_per_channel),
        buffers_(buffers) {}

  std::vector<BufferId> buffers() const override {
    std::vector<BufferId> ids = {buffers_.sums, buffers_.to, buffers_.offsets, buffers_.scales,
                                 buffers_.biases};
    for (const auto& id : {buffers_.zero, buffers_.scale, buffers_.bias})
      if (id) ids.push_back(*id);
    return ids;
  }

  Status run(const RunState& state) const noexcept override {
    fill_offsets(state);
    const IntegerRows all = {state.input<int32_t>(buffers_.sums),
                             images_ * positions_,
                             columns(),
                             stride_,
                             state.input<int32_t>(buffers_.offsets),
                             zeros_.empty() ? nullptr : zeros_.data()};
    if (result_ == Result::kIntegers) {
      complete_rows(all, state.output<int32_t>(buffers_.to));
    } else if (result_ == Result::kTransposedIntegers) {
      transpose_images(all, state.output<int32_t>(buffers_.to));
    } else {
      // Adding -0 changes nothing.
      fill(state, buffers_.scale, scale_per_channel_, 1, buffers_.scales);
      fill(state, buffers_.bias, bias_per_channel_, -0.0f, buffers_.biases);
      scale_rows(all, state.input<float>(buffers_.scales), state.input<float>(buffers_.biases),
                 state.output<float>(buffers_.to));
    }
    return {};
  }

 private:
  size_t columns() const { return weight_sums_.size(); }

  // n x0 w0 - x0 sum w, wrapping around.
  void fill_offsets(const RunState& state) const {
    uint8_t zero = shift_of(type_);
    if (buffers_.zero) zero ^= *state.input<uint8_t>(*buffers_.zero);
    int32_t* const offsets = state.output<int32_t>(buffers_.offsets);
    for (size_t i = 0; i < columns(); ++i) {
      const uint32_t taken = zeros_.empty() ? 0 : filter_ * static_cast<uint32_t>(zeros_[i]);
      offsets[i] = static_cast<int32_t>(zero * (taken - static_cast<uint32_t>(weight_sums_[i])));
    }
  }

  void fill(const RunState& state, std::optional<BufferId> from, bool per_channel, float absent,
            BufferId to) const {
    const float* const given = from ? state.input<float>(*from) : &absent;
    for (size_t i = 0; i < columns(); ++i) state.output<float>(to)[i] = given[per_channel ? i : 0];
  }

  void transpose_images(IntegerRows rows, int32_t* to) const {
    rows.rows = positions_;
    for (size_t image = 0; image < images_; ++image) {
      transpose_rows(rows, to);
      rows.sums += positions_ * stride_;
      to += positions_ * columns();
    }
  }

  const size_t images_, positions_, stride_;
  const uint32_t filter_;
  const std::vector<int32_t> weight_sums_, zeros_;
  const DataType type_;
  const Result result_;
  const bool scale_per_channel_, bias_per_channel_;
  const Buffers buffers_;
};

class IntegerProduct {
 public:
  IntegerProduct(Builder& builder, const FastNode& node, Plan plan)
      : builder_(builder),
        node_(node),
        plan_(std::move(plan)),
        x_(node.input(kX)),
        y_(node.node.outputs[0]),
        x_type_(node.view.in(kX).type) {}

  Status lower() {
    MILLRACE_ASSIGN_OR_RETURN(zero_, buffer_of(kXZero));
    MILLRACE_ASSIGN_OR_RETURN(const BufferId image, fetch_image());
    const Desc packed = plan_.primitive.weights_desc();
    const Operand weights = builder_.add_constant(
        plan_.weights.elements.data(), plain_desc(packed.dims(), ElementType::s8), packed);
    const Operand y = result_as(builder_, y_, result_desc());
    const Desc sums_desc = plan_.primitive.dst_desc();
    // In place where every sum becomes one element.
    const bool in_place = is_float() && plan_.weights.zeros.empty();
    const Operand sums =
        in_place ? Operand{y.buffer, sums_desc} : builder_.new_temporary(sums_desc);
    builder_.add_primitive(graph::name_of(node_.node.op), plan_.primitive,
                           dnnl::convolution_forward(plan_.primitive),
                           {{DNNL_ARG_SRC, {image, plan_.primitive.src_desc()}},
                            {DNNL_ARG_WEIGHTS, weights},
                            {DNNL_ARG_DST, sums}});
    MILLRACE_RETURN_IF_ERROR(add_completion(sums, y));
    finish_result(builder_, y_, y);
    return {};
  }

 private:
  bool is_float() const { return builder_.value(y_).type == DataType::kFloat32; }
  bool is_per_channel(size_t index) const {
    return node_.view.has(index) && node_.view.in(index).elements() > 1;
  }

  Result<std::optional<BufferId>> buffer_of(size_t index) {
    if (!node_.view.has(index)) return std::optional<BufferId>();
    MILLRACE_ASSIGN_OR_RETURN(const Operand operand, plain_operand(builder_, node_.input(index)));
    return std::optional(operand.buffer);
  }

  Desc result_desc() const {
    if (!is_float()) return builder_.plain_form(y_);
    const Dims dims = builder_.dims(y_);
    return plan_.shape.is_matrix ? plain_desc(dims, ElementType::f32)
                                 : channels_last(dims, ElementType::f32);
  }

  // The image as the primitive reads it.
  Result<BufferId> fetch_image() {
    MILLRACE_ASSIGN_OR_RETURN(const BufferId framed, fetch_framed());
    if (!plan_.is_unfolded) return framed;
    const Operand matrix = builder_.new_temporary(plan_.primitive.src_desc());
    builder_.add("Unfold", "millrace:vectors",
                 std::make_unique<UnfoldStep>(plan_.shape, framed, matrix.buffer));
    return matrix.buffer;
  }

  Result<BufferId> fetch_framed() {
    MILLRACE_ASSIGN_OR_RETURN(const Operand x, builder_.current(x_));
    const bool is_last =
        plan_.shape.is_matrix || x.desc == channels_last(builder_.dims(x_), ElementType::u8);
    if (is_last && !plan_.shape.is_padded() && shift_of(x_type_) == 0) return x.buffer;
    const Operand framed =
        builder_.new_temporary(plain_desc(image_dims(plan_.shape), ElementType::u8));
    builder_.add("Frame", "millrace:vectors",
                 std::make_unique<FrameStep>(plan_.shape, is_last, x_type_,
                                             FrameStep::Buffers{x.buffer, framed.buffer, zero_}));
    return framed.buffer;
  }

  Status add_completion(const Operand& sums, const Operand& y) {
    using Result = CompleteStep::Result;
    const Desc column = plain_desc({plan_.shape.output_channels()}, ElementType::s32);
    CompleteStep::Buffers buffers{sums.buffer,
                                  y.buffer,
                                  builder_.new_temporary(column).buffer,
                                  builder_.new_temporary(column).buffer,
                                  builder_.new_temporary(column).buffer,
                                  zero_,
                                  {},
                                  {}};
    MILLRACE_ASSIGN_OR_RETURN(buffers.scale, buffer_of(kScale));
    MILLRACE_ASSIGN_OR_RETURN(buffers.bias, buffer_of(kBias));
    const Result result = is_float()              ? Result::kFloats
                          : plan_.shape.is_matrix ? Result::kIntegers
                                                  : Result::kTransposedIntegers;
    builder_.add(graph::name_of(node_.node.op), "millrace:vectors",
                 std::make_unique<CompleteStep>(plan_, x_type_, result, is_per_channel(kScale),
                                                is_per_channel(kBias), buffers));
    return {};
  }

  Builder& builder_;
  const FastNode& node_;
  const Plan plan_;
  const ValueId x_, y_;
  const DataType x_type_;
  std::optional<BufferId> zero_;
};

}  // namespace

Result<bool> lower_integer_product(Builder& builder, const FastNode& node) {
  auto plan = make_plan(builder, node);
  if (!plan) return false;
  MILLRACE_RETURN_IF_ERROR(IntegerProduct(builder, node, *std::move(plan)).lower());
  return true;
}

std::optional<Desc> layout_of_readers(const Builder& builder, ValueId id) {
  if (builder.is_output(id) || builder.readers(id).empty()) return std::nullopt;
  for (const uint32_t reader : builder.readers(id)) {
    const graph::Node& node = builder.model().graph.nodes[reader];
    const auto* op = std::get_if<graph::Fallback>(&node.op);
    if (op == nullptr || find_lowering(op->name) != lower_integer_product) return std::nullopt;
    const std::vector<TensorView> operands = operand_views(builder, node);
    const auto plan = make_plan(builder, {node, NodeView(*op, operands)});
    const bool reads_once = std::ranges::count(node.inputs, id) == 1 && node.input(kX) == id;
    if (!plan || plan->shape.is_matrix || !reads_once) return std::nullopt;
  }
  return channels_last(builder.dims(id), ElementType::u8);
}

}  // namespace millrace::device::cpu::fast
