// Adds functions of elements, of rows and of channels.
#include <algorithm>
#include <cmath>

#include "tests/random_graphs/graph_maker.h"

namespace millrace::test {
namespace {

using graph::Activation;
using graph::BinaryKind;
using graph::UnaryKind;

// A function, and the factor by which it may enlarge an error.
struct Function {
  Activation activation;
  float slope;
};
constexpr Function kFunctions[] = {
    {{UnaryKind::kRelu, 0, 0}, 1},
    {{UnaryKind::kClip, -0.25f, 0.5f}, 1},
    {{UnaryKind::kLeakyRelu, 0.125f, 0}, 1},
    {{UnaryKind::kElu, 1, 0}, 1},
    {{UnaryKind::kSigmoid, 0, 0}, 1},
    {{UnaryKind::kTanh, 0, 0}, 1},
    {{UnaryKind::kHardSigmoid, 0.25f, 0.5f}, 1},
    {{UnaryKind::kHardSwish, 0, 0}, 2},
    {{UnaryKind::kSwish, 0, 0}, 2},
    {{UnaryKind::kGelu, 0, 0}, 2},
    {{UnaryKind::kAbs, 0, 0}, 1},
    {{UnaryKind::kNeg, 0, 0}, 1},
    {{UnaryKind::kErf, 0, 0}, 2},
    {{UnaryKind::kSoftplus, 0, 0}, 1},
    {{UnaryKind::kLinear, 0.5f, 0.25f}, 1},
};

bool unary(GraphMaker& maker) {
  const auto x = maker.any_number(0, 6);
  if (!x) return false;
  const Function& function = maker.random().one_of(kFunctions);
  maker.compute(graph::Unary{function.activation}, {*x}, function.slope * maker.error(*x), 1);
  return true;
}

// Adds functions that are steep, or not defined, for some numbers.
bool unary_within_range(GraphMaker& maker) {
  constexpr float kLeast = 0.25f, kMost = 4;
  const auto x = maker.any([&](ValueId id) {
    return maker.is_number(id) && maker.smallest(id) > kLeast && maker.largest(id) < kMost &&
           std::ranges::all_of(maker.expected(id), [](float number) { return number > 0; });
  });
  if (!x) return false;
  constexpr Function kSteep[] = {{{UnaryKind::kLog, 0, 0}, 4},
                                 {{UnaryKind::kSqrt, 0, 0}, 1},
                                 {{UnaryKind::kReciprocal, 0, 0}, 16},
                                 {{UnaryKind::kExp, 0, 0}, 55},
                                 {{UnaryKind::kPow, 2, 0}, 8}};
  const Function& function = maker.random().one_of(kSteep);
  maker.compute(graph::Unary{function.activation}, {*x}, function.slope * maker.error(*x), 1);
  return true;
}

// Adds functions that jump, so only exact values are given to them.
bool round(GraphMaker& maker) {
  const auto x = maker.any(
      [&](ValueId id) { return maker.type(id) == DataType::kFloat32 && maker.error(id) == 0; });
  if (!x) return false;
  constexpr UnaryKind kSteps[] = {UnaryKind::kRound, UnaryKind::kFloor, UnaryKind::kCeil};
  maker.compute_exactly(graph::Unary{{maker.random().one_of(kSteps), 0, 0}}, {*x});
  return true;
}

// Returns dimensions that broadcast to `dims`.
Dims broadcast(Random& random, Dims dims) {
  if (random.chance(30))
    dims.erase(dims.begin(), dims.begin() + random.between(0, static_cast<int64_t>(dims.size())));
  for (int64_t& dim : dims)
    if (random.chance(30)) dim = 1;
  return dims;
}

float passed_by(GraphMaker& maker, BinaryKind kind, ValueId a, ValueId b) {
  switch (kind) {
    case BinaryKind::kMul:
      return maker.error_of_product(a, b);
    case BinaryKind::kDiv:
      return maker.error(a) / maker.smallest(b) +
             maker.error(b) * maker.largest(a) / (maker.smallest(b) * maker.smallest(b));
    case BinaryKind::kPrelu:
      return maker.error(a) * std::max(maker.largest(b), 1.0f) + maker.error(b) * maker.largest(a);
    default:
      return maker.error(a) + maker.error(b);
  }
}

ValueId other_operand(GraphMaker& maker, const Dims& dims) {
  if (maker.random().chance(20)) return maker.number(0.75f);
  const Dims own = maker.random().chance(50) ? dims : broadcast(maker.random(), dims);
  return own.empty() ? maker.number(-1.5f) : maker.like(own);
}

bool binary(GraphMaker& maker) {
  const auto x = maker.any_number(1, 5);
  if (!x) return false;
  constexpr BinaryKind kKinds[] = {BinaryKind::kAdd, BinaryKind::kSub, BinaryKind::kMul,
                                   BinaryKind::kMin, BinaryKind::kMax, BinaryKind::kPrelu,
                                   BinaryKind::kDiv};
  BinaryKind kind = maker.random().one_of(kKinds);
  ValueId a = *x, b = other_operand(maker, maker.dims(*x));
  if (kind != BinaryKind::kPrelu && maker.random().chance(40)) std::swap(a, b);
  if (kind == BinaryKind::kDiv && maker.smallest(b) < 0.25f + maker.error(b))
    kind = BinaryKind::kAdd;
  maker.compute(graph::Binary{kind}, {a, b}, passed_by(maker, kind, a, b),
                maker.largest(a) + maker.largest(b));
  return true;
}

bool softmax(GraphMaker& maker) {
  const auto x = maker.any_number(1, 5);
  if (!x) return false;
  const auto axis = static_cast<int64_t>(maker.random().below(maker.dims(*x).size()));
  const bool log = maker.random().chance(25);
  maker.compute(graph::Softmax{axis, log}, {*x}, 2 * maker.error(*x),
                log ? maker.largest(*x) + 1 : maker.largest(*x));
  return true;
}

bool reduce(GraphMaker& maker) {
  const auto x = maker.any_number(1, 5);
  if (!x) return false;
  constexpr graph::ReduceKind kKinds[] = {graph::ReduceKind::kSum, graph::ReduceKind::kMean,
                                          graph::ReduceKind::kMax, graph::ReduceKind::kMin};
  graph::Reduce op{maker.random().one_of(kKinds), {}, maker.random().chance(50)};
  float count = 1;
  for (size_t i = 0; i < maker.dims(*x).size(); ++i) {
    if (!maker.random().chance(50)) continue;
    op.axes.push_back(static_cast<int64_t>(i));
    count *= static_cast<float>(maker.dims(*x)[i]);
  }
  if (op.axes.empty()) return false;
  const float terms = op.kind == graph::ReduceKind::kSum ? count : 1;
  maker.compute(op, {*x}, terms * maker.error(*x), terms * maker.largest(*x));
  return true;
}

// With this least variance, normalising almost constant values does not enlarge errors too much.
constexpr float kEpsilon = 0.5f;

float passed_by_normalization(GraphMaker& maker, ValueId x) {
  return 8 * maker.error(x) * (1 + maker.largest(x));
}

bool layer_normalization(GraphMaker& maker) {
  const auto x = maker.any([&](ValueId id) {
    return maker.type(id) == DataType::kFloat32 && maker.dims(id).size() >= 2 &&
           maker.dims(id).size() <= 4;
  });
  if (!x) return false;
  const Dims row = {maker.dims(*x).back()};
  maker.compute(
      graph::Fallback{"LayerNormalization", {{"axis", int64_t{-1}}, {"epsilon", kEpsilon}}},
      {*x, maker.constant(row), maker.constant(row)}, passed_by_normalization(maker, *x),
      maker.largest(*x) + 1);
  return true;
}

bool channel_normalization(GraphMaker& maker) {
  const auto x = maker.any([&](ValueId id) {
    return maker.type(id) == DataType::kFloat32 && maker.dims(id).size() >= 3 &&
           maker.dims(id).size() <= 4;
  });
  if (!x) return false;
  const Dims channels = {maker.dims(*x)[1]};
  const graph::Fallback instance{"InstanceNormalization", {{"epsilon", kEpsilon}}};
  const graph::Fallback groups{"GroupNormalization",
                               {{"epsilon", kEpsilon}, {"num_groups", int64_t{1}}}};
  maker.compute(maker.random().chance(50) ? instance : groups,
                {*x, maker.constant(channels), maker.constant(channels)},
                passed_by_normalization(maker, *x), maker.largest(*x) + 1);
  return true;
}

bool batch_normalization(GraphMaker& maker) {
  const auto x = maker.any_number(2, 5);
  if (!x) return false;
  const Dims channels = {maker.dims(*x)[1]};
  maker.compute(graph::BatchNormalization{kEpsilon},
                {*x, maker.constant(channels), maker.constant(channels), maker.constant(channels),
                 maker.constant(channels, kEpsilon / 2)},
                2 * maker.error(*x), 2 * maker.largest(*x) + 2);
  return true;
}

bool fast_function(GraphMaker& maker) {
  const auto x = maker.any([&](ValueId id) { return maker.type(id) == DataType::kFloat32; });
  if (!x) return false;
  constexpr const char* kNames[] = {"Gelu", "com.microsoft.Gelu", "com.microsoft.QuickGelu"};
  maker.compute(graph::Fallback{maker.random().one_of(kNames), {}}, {*x}, 2 * maker.error(*x),
                maker.largest(*x));
  return true;
}

constexpr Kind kFunctionKinds[] = {
    {"Unary", 8, unary},
    {"Unary within its range", 4, unary_within_range},
    {"Round", 2, round},
    {"Binary", 10, binary},
    {"Softmax", 4, softmax},
    {"Reduce", 5, reduce},
    {"LayerNormalization", 3, layer_normalization},
    {"InstanceNormalization", 3, channel_normalization},
    {"BatchNormalization", 3, batch_normalization},
    {"Gelu", 3, fast_function},
};

}  // namespace

std::span<const Kind> functions() {
  return kFunctionKinds;
}

}  // namespace millrace::test
