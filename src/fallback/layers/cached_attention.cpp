// millrace.CachedAttention: attention over keys and values that lie in buffers, of which each
// sequence has filled another part. The compiler makes it of GroupQueryAttention and of Attention
// with lengths, so that nothing is read or copied after the end of a sequence.
//
// Operands: query [batch, heads, L, D]; keys [batch, groups, S, D] and values [batch, groups, S,
// E], where each group serves heads / groups consecutive heads; lengths [batch], of INT64: how many
// of the S keys are those of the sequence; and optionally the sinks [heads], scores of keys without
// a value. Output: [batch, heads, L, E].
//
// The queries are the last tokens of their sequence. Query i sees the keys before
// length - (L - 1 - i) if `causal` is 1, the default, and those before the length if it is 0. If
// `window` is not negative, it sees only the last `window` of them. The result of a query that sees
// no key is 0. A length beyond S counts as S keys that are seen, and a negative one as none.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "fallback/common_shapes.h"
#include "fallback/element.h"
#include "fallback/families.h"
#include "graph/reference/cached_keys.h"

namespace millrace::fallback {
namespace {

using reference::CachedKeys;
using reference::SeenKeys;

constexpr size_t kQueries = 0, kCachedKeys = 1, kCachedValues = 2, kFilled = 3, kSinks = 4;

Status shape_of_cached_attention(Inference& node) {
  const TensorView &query = node.in(kQueries), &key = node.in(kCachedKeys),
                   &value = node.in(kCachedValues);
  const bool fits = query.rank() == 4 && key.rank() == 4 && value.rank() == 4 &&
                    key.dims[0] == query.dims[0] && key.dims[3] == query.dims[3] &&
                    std::ranges::equal(key.dims.first(3), value.dims.first(3)) &&
                    key.type == query.type && value.type == query.type;
  if (!fits)
    return invalid_argument(fmt::format("its query {}, keys {} and values {} do not fit each other",
                                        graph::to_string(to_dims(query.dims)),
                                        graph::to_string(to_dims(key.dims)),
                                        graph::to_string(to_dims(value.dims))));
  if (key.dims[2] == 0 || key.dims[3] == 0) return invalid_argument("its keys have no elements");
  if (key.dims[1] == 0 || query.dims[1] % key.dims[1] != 0)
    return invalid_argument(
        fmt::format("{} query heads cannot share {} key heads", query.dims[1], key.dims[1]));
  if (node.in(kFilled).type != DataType::kInt64 ||
      to_dims(node.in(kFilled).dims) != Dims{query.dims[0]})
    return invalid_argument("its lengths must be one INT64 for each entry of the batch");
  if (node.has(kSinks) &&
      (node.in(kSinks).type != query.type || to_dims(node.in(kSinks).dims) != Dims{query.dims[1]}))
    return invalid_argument("its sinks must have one element for each head");
  Dims dims = to_dims(query.dims);
  dims.back() = value.dims.back();
  node.set(0, query.type, std::move(dims));
  return {};
}

CachedKeys cached_keys(const NodeView& node) {
  return {.queries = node.in(kQueries).dims[2],
          .capacity = node.in(kCachedKeys).dims[2],
          .window = node.integer("window", -1),
          .is_causal = node.integer("causal", 1) != 0};
}

// The operands of one head.
template <class T>
struct Head {
  const T *keys, *values;
  size_t depth, size;
  double scale;
  double sink;  // -infinity if there is none
};

// Computes the result of one query.
template <class T>
void attend_seen(const Head<T>& head, const T* query, SeenKeys seen, std::vector<double>& weights,
                 std::span<T> to) {
  std::ranges::fill(to, T{0});
  weights.clear();
  double most = head.sink;
  for (auto key = static_cast<size_t>(seen.begin); key < static_cast<size_t>(seen.end); ++key) {
    double product = 0;
    for (size_t i = 0; i < head.depth; ++i)
      product +=
          static_cast<double>(query[i]) * static_cast<double>(head.keys[key * head.depth + i]);
    weights.push_back(head.scale * product);
    most = std::max(most, weights.back());
  }
  if (weights.empty()) return;
  double sum = std::exp(head.sink - most);
  for (double& weight : weights) sum += weight = std::exp(weight - most);
  for (size_t i = 0; i < to.size(); ++i) {
    double result = 0;
    const T* value = head.values + static_cast<size_t>(seen.begin) * head.size + i;
    for (const double weight : weights) {
      result += weight * static_cast<double>(*value);
      value += head.size;
    }
    to[i] = static_cast<T>(result / sum);
  }
}

template <class T>
void cached_attention_of(const Call& call) {
  const auto dims = call.in(kQueries).dims;
  const auto heads = static_cast<size_t>(dims[1]), length = static_cast<size_t>(dims[2]);
  const auto groups = static_cast<size_t>(call.in(kCachedKeys).dims[1]);
  const CachedKeys keys = cached_keys(call);
  const auto capacity = static_cast<size_t>(keys.capacity);
  Head<T> head{};
  head.depth = static_cast<size_t>(dims[3]);
  head.size = static_cast<size_t>(call.in(kCachedValues).dims[3]);
  head.scale = static_cast<double>(call.real("scale", 1));
  head.sink = -std::numeric_limits<double>::infinity();
  std::vector<double> weights;
  const auto to = call.out(0).as<T>();
  for (size_t row = 0; row < to.size() / head.size; ++row) {
    const size_t number = row / length, batch = number / heads;
    const size_t group = batch * groups + number % heads / (heads / groups);
    head.keys = call.in(kCachedKeys).as<T>().data() + group * capacity * head.depth;
    head.values = call.in(kCachedValues).as<T>().data() + group * capacity * head.size;
    if (call.has(kSinks)) head.sink = static_cast<double>(call.in(kSinks).as<T>()[number % heads]);
    attend_seen(
        head, call.in(kQueries).as<T>().data() + row * head.depth,
        keys.seen_by(static_cast<int64_t>(row % length), call.in(kFilled).as<int64_t>()[batch]),
        weights, to.subspan(row * head.size, head.size));
  }
}

Status cached_attention(const Call& call) {
  return visit_floating(call.in(kQueries).type, [&](auto zero) -> Status {
    cached_attention_of<decltype(zero)>(call);
    return {};
  });
}

constexpr AttributeSpec kCachedAttention[] = {{"causal", AttributeKind::kInteger},
                                              {"scale", AttributeKind::kFloat},
                                              {"window", AttributeKind::kInteger}};

}  // namespace

std::span<const OperatorSpec> cached_attention_operators() noexcept {
  static constexpr OperatorSpec kOperators[] = {
      {"millrace.CachedAttention",
       1,
       {4, 5},
       {},
       kReals,
       shape_of_cached_attention,
       cached_attention,
       kCachedAttention},
  };
  return kOperators;
}

}  // namespace millrace::fallback
