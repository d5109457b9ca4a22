// millrace.Attention: scaled dot-product attention, into which the compiler fuses matrix products
// and a softmax: softmax(scale Q K^T + bias) V, for each index of the leading dimensions (batch and
// heads). Sums are computed in double; only one row of scores is in memory.
//
// Operands: query Q [..., L, D], key K [..., S, D], value V [..., S, E], and optionally a bias that
// is broadcast to the scores [..., L, S]. Output: [..., L, E].
#include <algorithm>
#include <cmath>
#include <limits>

#include "fallback/common_shapes.h"
#include "fallback/element.h"
#include "fallback/families.h"

namespace millrace::fallback {
namespace {

constexpr size_t kQuery = 0, kKey = 1, kValue = 2, kBias = 3;

// Returns a dimension, counted from the last one (1).
int64_t from_end(const TensorView& operand, size_t back) {
  return operand.dims[operand.rank() - back];
}

Dims scores_of(const NodeView& node) {
  Dims dims = to_dims(node.in(kQuery).dims);
  dims.back() = from_end(node.in(kKey), 2);
  return dims;
}

bool fit_each_other(const TensorView& query, const TensorView& key, const TensorView& value) {
  const size_t rank = query.rank();
  if (rank < 2 || key.rank() != rank || value.rank() != rank) return false;
  return std::ranges::equal(query.dims.first(rank - 2), key.dims.first(rank - 2)) &&
         std::ranges::equal(key.dims.first(rank - 1), value.dims.first(rank - 1)) &&
         query.dims.back() == key.dims.back();
}

Status shape_of_attention(Inference& node) {
  MILLRACE_RETURN_IF_ERROR(check_one_type(node));
  if (!fit_each_other(node.in(kQuery), node.in(kKey), node.in(kValue)))
    return invalid_argument("its query, key and value do not fit each other");
  // A softmax needs at least one score, and a score at least one product.
  if (from_end(node.in(kKey), 2) == 0 || node.in(kKey).dims.back() == 0)
    return invalid_argument("its keys have no elements");
  if (node.has(kBias)) {
    const Dims scores = scores_of(node);
    MILLRACE_ASSIGN_OR_RETURN(const Dims joint,
                              graph::broadcast(scores, to_dims(node.in(kBias).dims)));
    if (joint != scores) return invalid_argument("its bias does not broadcast to the scores");
  }
  Dims dims = to_dims(node.in(kQuery).dims);
  dims.back() = node.in(kValue).dims.back();
  node.set(0, node.in(kQuery).type, std::move(dims));
  return {};
}

// The part of the bias for one row of the scores: the offset of its first element, and the step to
// the next ones.
struct BiasRow {
  size_t offset = 0, step = 0;
};

// The bias is not broadcast as a whole, since the scores may have many more elements than any
// operand.
BiasRow bias_row(const TensorView& bias, const Dims& scores, size_t row) {
  BiasRow found;
  size_t stride = 1;
  for (size_t back = 1; back <= bias.rank(); ++back) {
    const auto dim = static_cast<size_t>(from_end(bias, back));
    if (back == 1) {
      found.step = dim == 1 ? 0 : 1;
    } else {
      const auto rows = static_cast<size_t>(scores[scores.size() - back]);
      if (dim != 1) found.offset += row % rows * stride;
      row /= rows;
    }
    stride *= dim;
  }
  return found;
}

// Computes the softmax weights of the keys for one query. On entry, `weights` holds the biases.
template <class T>
void weigh(const T* query, const T* keys, size_t depth, double scale, std::span<double> weights) {
  double most = -std::numeric_limits<double>::infinity(), sum = 0;
  for (double& weight : weights) {
    double product = 0;
    for (size_t i = 0; i < depth; ++i)
      product += static_cast<double>(query[i]) * static_cast<double>(*keys++);
    weight += scale * product;
    most = std::max(most, weight);
  }
  for (double& weight : weights) sum += weight = std::exp(weight - most);
  for (double& weight : weights) weight /= sum;
}

template <class T>
void set_biases(const Call& call, const Dims& scores, size_t row, std::span<double> weights) {
  std::ranges::fill(weights, 0);
  if (!call.has(kBias)) return;
  const BiasRow bias = bias_row(call.in(kBias), scores, row);
  const T* from = call.in(kBias).as<T>().data() + bias.offset;
  for (size_t i = 0; i < weights.size(); ++i) weights[i] = static_cast<double>(from[i * bias.step]);
}

template <class T>
void attention_of(const Call& call) {
  const Dims scores = scores_of(call);
  const auto depth = static_cast<size_t>(call.in(kQuery).dims.back());
  const auto size = static_cast<size_t>(call.in(kValue).dims.back());
  const auto keys = static_cast<size_t>(scores.back());
  const auto queries = static_cast<size_t>(scores[scores.size() - 2]);
  const double scale = call.real("scale", 1);
  std::vector<double> weights(keys), sums(size);
  T* to = call.out(0).as<T>().data();
  for (size_t row = 0; row < call.out(0).elements() / size; ++row) {
    const size_t head = row / queries;
    set_biases<T>(call, scores, row, weights);
    weigh(call.in(kQuery).as<T>().data() + row * depth,
          call.in(kKey).as<T>().data() + head * keys * depth, depth, scale,
          std::span<double>(weights));
    const T* value = call.in(kValue).as<T>().data() + head * keys * size;
    std::ranges::fill(sums, 0);
    for (const double weight : weights)
      for (double& sum : sums) sum += weight * static_cast<double>(*value++);
    for (const double sum : sums) *to++ = static_cast<T>(sum);
  }
}

Status attention(const Call& call) {
  return visit_floating(call.in(kQuery).type, [&](auto zero) -> Status {
    attention_of<decltype(zero)>(call);
    return {};
  });
}

constexpr AttributeSpec kAttributes[] = {{"scale", AttributeKind::kFloat}};

}  // namespace

std::span<const OperatorSpec> attention_operators() noexcept {
  static constexpr OperatorSpec kOperators[] = {
      {"millrace.Attention", 1, {3, 4}, {}, kReals, shape_of_attention, attention, kAttributes},
  };
  return kOperators;
}

}  // namespace millrace::fallback
