// Adds products and windows, whose kernels have many forms.
#include <algorithm>
#include <cmath>

#include "tests/random_graphs/graph_maker.h"

namespace millrace::test {
namespace {

using graph::Activation;
using graph::kNoValue;
using graph::UnaryKind;

// A sum of random numbers grows as the square root of their count.
float growth(int64_t terms) {
  return std::sqrt(static_cast<float>(terms));
}

// Returns a scale of weights for which sums of `terms` products stay about as large as the operand.
float weight_scale(int64_t terms) {
  return std::exp2(-std::floor(std::log2(growth(terms))));
}

struct Errors {
  float passed, scale;
};

Errors errors_of_product(GraphMaker& maker, ValueId a, ValueId b, int64_t terms) {
  const float sums = growth(terms);
  return {maker.error_of_product(a, b) * sums, maker.largest(a) * maker.largest(b) * sums};
}

Activation some_activation(Random& random) {
  constexpr Activation kFused[] = {{UnaryKind::kRelu, 0, 0},
                                   {UnaryKind::kClip, -0.5f, 1},
                                   {UnaryKind::kTanh, 0, 0},
                                   {UnaryKind::kHardSigmoid, 0.25f, 0.5f}};
  return random.chance(70) ? Activation{} : random.one_of(kFused);
}

// Returns dimensions that the other factor may have in a product with one of these dimensions.
Dims other_factor(GraphMaker& maker, const Dims& dims, bool is_left, bool transposes) {
  const size_t rank = dims.size();
  const int64_t inner = is_left ? dims[rank - 1] : dims[rank - 2];
  if (maker.random().chance(8) && !transposes) return {inner};
  Dims other(dims.begin(), dims.end() - 2);
  if (maker.random().chance(35)) other.clear();
  for (int64_t& dim : other)
    if (maker.random().chance(15)) dim = 1;
  const Dims matrix = is_left ? Dims{inner, maker.new_dim()} : Dims{maker.new_dim(), inner};
  other.insert(other.end(), matrix.begin(), matrix.end());
  return other;
}

void swap_last(Dims& dims) {
  std::swap(dims[dims.size() - 1], dims[dims.size() - 2]);
}

bool matmul(GraphMaker& maker) {
  const auto x = maker.any_number(2, 5);
  if (!x) return false;
  const bool is_left = maker.random().chance(50);
  bool transposes_x = maker.random().chance(25), transposes_other = maker.random().chance(25);
  Dims dims = maker.dims(*x);
  if (transposes_x) swap_last(dims);
  const int64_t terms = is_left ? dims.back() : dims[dims.size() - 2];
  Dims other_dims = other_factor(maker, dims, is_left, transposes_other);
  if (transposes_other) swap_last(other_dims);
  const ValueId other = maker.random().chance(25) ? maker.weights(other_dims, weight_scale(terms))
                                                  : maker.like(other_dims);
  graph::MatMul op{transposes_x, transposes_other, 1, some_activation(maker.random())};
  if (!is_left) std::swap(op.transpose_a, op.transpose_b);
  if (maker.random().chance(15)) op.alpha = 0.5f;
  std::vector<ValueId> operands = is_left ? std::vector{*x, other} : std::vector{other, *x};
  auto [passed, scale] = errors_of_product(maker, *x, other, terms);
  if (maker.random().chance(30)) {
    const int64_t columns = is_left ? (other_dims.size() == 1 ? 1
                                       : transposes_other     ? other_dims[other_dims.size() - 2]
                                                              : other_dims.back())
                                    : dims.back();
    operands.push_back(maker.random().chance(60) ? maker.constant({columns})
                                                 : maker.like({columns}));
    passed += maker.error(operands[2]);
    scale += maker.largest(operands[2]);
  }
  maker.compute(op, operands, passed, scale);
  return true;
}

std::optional<ValueId> any_image(GraphMaker& maker) {
  return maker.any_number(4, 4);
}

// Strides, dilations and padding of a window, which fits into the image.
struct Window {
  Dims kernel, strides, dilations, begin, end, result;
};

Window window_for(GraphMaker& maker, const Dims& image) {
  Window window;
  Random& random = maker.random();
  for (size_t i = 2; i < image.size(); ++i) {
    const int64_t pad_begin = random.chance(50) ? 0 : 1, pad_end = random.chance(50) ? 0 : 1;
    const int64_t room = image[i] + pad_begin + pad_end;
    const int64_t kernel = random.between(1, std::min<int64_t>(room, 3));
    const bool can_dilate = kernel > 1 && (kernel - 1) * 2 + 1 <= room;
    const int64_t dilation = can_dilate && random.chance(15) ? 2 : 1;
    const int64_t stride = random.chance(75) ? 1 : 2;
    window.kernel.push_back(kernel);
    window.strides.push_back(stride);
    window.dilations.push_back(dilation);
    window.begin.push_back(std::min(pad_begin, kernel - 1));
    window.end.push_back(std::min(pad_end, kernel - 1));
    const int64_t reach = (kernel - 1) * dilation + 1;
    window.result.push_back((image[i] + window.begin.back() + window.end.back() - reach) / stride +
                            1);
  }
  return window;
}

bool is_possible(const Window& window) {
  return std::ranges::all_of(window.result, [](int64_t dim) { return dim > 0; });
}

// Whether the taps may lie in the padding on both sides. A Pool has no result for such a window.
bool may_step_over(const Window& window, const Dims& image) {
  for (size_t i = 0; i < window.dilations.size(); ++i)
    if (window.dilations[i] > image[i + 2]) return true;
  return false;
}

int64_t some_groups(Random& random, int64_t channels) {
  if (random.chance(60)) return 1;
  return random.chance(50) ? channels : channels % 2 == 0 ? 2 : 1;
}

bool conv(GraphMaker& maker) {
  const auto x = any_image(maker);
  if (!x) return false;
  Random& random = maker.random();
  const Dims image = maker.dims(*x);
  const Window window = window_for(maker, image);
  if (!is_possible(window)) return false;
  const int64_t groups = some_groups(random, image[1]);
  const int64_t filters = groups == image[1] && random.chance(80)
                              ? groups
                              : groups * random.between(1, std::max<int64_t>(1, 24 / groups));
  const int64_t terms = image[1] / groups * window.kernel[0] * window.kernel[1];
  const Dims weight = {filters, image[1] / groups, window.kernel[0], window.kernel[1]};
  std::vector<ValueId> operands = {
      *x, random.chance(85) ? maker.weights(weight, weight_scale(terms)) : maker.like(weight)};
  auto [passed, scale] = errors_of_product(maker, *x, operands[1], terms);
  operands.push_back(random.chance(50) ? maker.constant({filters}) : kNoValue);
  if (random.chance(25)) {
    Dims result = {image[0], filters, window.result[0], window.result[1]};
    operands.push_back(maker.like(result));
    passed += maker.error(operands[3]);
    scale += maker.largest(operands[3]);
  }
  maker.compute(graph::Conv{window.strides, window.dilations, window.begin, window.end, groups,
                            some_activation(random)},
                operands, passed, scale + 1);
  return true;
}

bool pool(GraphMaker& maker) {
  const auto x = any_image(maker);
  if (!x) return false;
  const Window window = window_for(maker, maker.dims(*x));
  if (!is_possible(window) || may_step_over(window, maker.dims(*x))) return false;
  const auto kind = maker.random().chance(50) ? graph::PoolKind::kMax : graph::PoolKind::kAverage;
  const graph::Pool op{kind,         window.kernel, window.strides, window.dilations,
                       window.begin, window.end,    {0, 0},         maker.random().chance(50)};
  maker.compute(op, {*x}, maker.error(*x), maker.largest(*x));
  return true;
}

bool global_pool(GraphMaker& maker) {
  const auto x = any_image(maker);
  if (!x) return false;
  const auto kind = maker.random().chance(50) ? graph::PoolKind::kMax : graph::PoolKind::kAverage;
  maker.compute(graph::GlobalPool{kind}, {*x}, maker.error(*x), maker.largest(*x));
  return true;
}

bool resize(GraphMaker& maker) {
  const auto x = any_image(maker);
  if (!x) return false;
  graph::Resize op;
  if (maker.random().chance(50)) {
    op.mode = graph::ResizeMode::kLinear;
    op.coordinates = graph::CoordinateMode::kHalfPixel;
  }
  op.shape = maker.dims(*x);
  op.scales = {1, 1, 1, 1};
  for (size_t i = 2; i < 4; ++i) {
    const int64_t factor = maker.random().between(1, 2);
    op.shape[i] *= factor;
    op.scales[i] = static_cast<float>(factor);
  }
  maker.compute(op, {*x}, maker.error(*x), maker.largest(*x));
  return true;
}

bool conv_transpose(GraphMaker& maker) {
  const auto x = maker.any([&](ValueId id) {
    return maker.type(id) == DataType::kFloat32 && maker.dims(id).size() == 4;
  });
  if (!x) return false;
  const Dims image = maker.dims(*x);
  const int64_t stride = maker.random().between(1, 2), filters = maker.new_dim();
  const ValueId weights = maker.constant({image[1], filters, 2, 3}, weight_scale(image[1] * 6));
  const auto [passed, scale] = errors_of_product(maker, *x, weights, image[1] * 6);
  maker.compute(graph::Fallback{"ConvTranspose", {{"strides", Dims{stride, stride}}}},
                {*x, weights, maker.constant({filters})}, passed, scale + 1);
  return true;
}

// Returns FP32 numbers only: this operator does not take quantised integers.
ValueId floats_like(GraphMaker& maker, const Dims& dims) {
  const ValueId id = maker.like(dims);
  return maker.is_quantised(id) ? maker.dequantise(id) : id;
}

bool attention(GraphMaker& maker) {
  const auto query = maker.any([&](ValueId id) {
    return maker.type(id) == DataType::kFloat32 && maker.dims(id).size() >= 2 &&
           maker.dims(id).size() <= 4 && maker.largest(id) < 8;
  });
  if (!query) return false;
  Dims key_dims = maker.dims(*query), value_dims = key_dims;
  const int64_t depth = key_dims.back();
  key_dims[key_dims.size() - 2] = value_dims[value_dims.size() - 2] = maker.new_dim();
  value_dims.back() = maker.new_dim();
  std::vector<ValueId> operands = {*query, floats_like(maker, key_dims),
                                   floats_like(maker, value_dims)};
  if (maker.random().chance(30))
    operands.push_back(floats_like(maker, {key_dims[key_dims.size() - 2]}));
  const float step = weight_scale(depth);
  auto [scores, size] = errors_of_product(maker, operands[0], operands[1], depth);
  if (operands.size() > 3) scores += maker.error(operands[3]);
  const float largest = maker.largest(operands[2]);
  maker.compute(graph::Fallback{"millrace.Attention", {{"scale", step}}}, operands,
                maker.error(operands[2]) + 2 * scores * largest, largest * (1 + size));
  return true;
}

bool recurrence(GraphMaker& maker) {
  const auto x = maker.any([&](ValueId id) {
    return maker.type(id) == DataType::kFloat32 && maker.dims(id).size() == 3 &&
           maker.largest(id) < 8;
  });
  if (!x) return false;
  struct Cell {
    const char* name;
    int64_t gates;
    size_t outputs;
  };
  constexpr Cell kCells[] = {{"LSTM", 4, 3}, {"GRU", 3, 2}, {"RNN", 1, 2}};
  const Cell& cell = maker.random().one_of(kCells);
  const int64_t batch = maker.dims(*x)[1], width = maker.dims(*x)[2], units = maker.new_dim();
  const int64_t rows = cell.gates * units;
  const ValueId weights = maker.constant({1, rows, width}, weight_scale(width) / 2),
                recurrence = maker.constant({1, rows, units}, weight_scale(units) / 2);
  std::vector<ValueId> operands = {*x, weights, recurrence};
  if (maker.random().chance(50)) {
    operands.insert(operands.end(), {maker.constant({1, 2 * rows}), kNoValue,
                                     floats_like(maker, {1, batch, units})});
    if (maker.largest(operands[5]) > 8) return false;
  }
  float error = maker.error(*x);
  if (operands.size() > 3) error += maker.error(operands[5]);
  maker.compute(graph::Fallback{cell.name, {}}, operands, 8 * error * growth(width), 4,
                cell.outputs);
  return true;
}

constexpr Kind kProducts[] = {
    {"MatMul", 22, matmul},         {"Conv", 12, conv},      {"Pool", 4, pool},
    {"GlobalPool", 2, global_pool}, {"Resize", 3, resize},   {"ConvTranspose", 3, conv_transpose},
    {"Attention", 4, attention},    {"LSTM", 3, recurrence},
};

}  // namespace

std::span<const Kind> products() {
  return kProducts;
}

}  // namespace millrace::test
