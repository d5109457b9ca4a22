#include "tests/ranks/models/transformer.h"

#include <cmath>

namespace millrace::test {
namespace {

using device::cpu::ModelBuilder;
using device::cpu::Tensor;
using graph::Activation;
using graph::Dims;
using graph::ValueId;

class Builder {
 public:
  explicit Builder(const Transformer& options) : options_(options) {}

  graph::Graph build() {
    ValueId x = builder_.input({kTransformerBatch, options_.length, options_.width});
    for (size_t i = 0; i < options_.blocks; ++i) {
      x = add(x, attention(normalised(x)));
      x = add(x, feed_forward(normalised(x)));
    }
    builder_.output(product(normalised(x), options_.width, options_.outputs));
    return builder_.build()->graph;
  }

 private:
  ValueId weights(const Dims& dims, float scale) {
    Tensor tensor = Tensor::numbers(dims, ++seed_);
    for (float& element : tensor.data) element *= scale;
    return builder_.constant(tensor);
  }

  ValueId product(ValueId x, int64_t from, int64_t to, Activation function = {}) {
    const ValueId w = weights({from, to}, 1 / std::sqrt(static_cast<float>(from)));
    return builder_.node(graph::MatMul{false, false, 1, function}, {x, w, weights({to}, 0.1f)});
  }

  ValueId add(ValueId a, ValueId b) {
    return builder_.node(graph::Binary{graph::BinaryKind::kAdd}, {a, b});
  }

  ValueId normalised(ValueId x) {
    const ValueId scale = weights({options_.width}, 1);
    if (options_.is_gated)
      return builder_.fallback({"RMSNormalization", {{"axis", int64_t{-1}}}}, {x, scale})[0];
    const graph::Fallback op{"LayerNormalization", {{"axis", int64_t{-1}}}};
    return builder_.fallback(op, {x, scale, weights({options_.width}, 0.1f)})[0];
  }

  int64_t head_width() const { return options_.width / options_.heads; }

  ValueId reshape(ValueId x, const Dims& dims) { return builder_.node(graph::Reshape{dims}, {x}); }

  // [1, length, heads * size] as [1, heads, length, size].
  ValueId by_heads(ValueId x, int64_t heads) {
    const Dims split = {kTransformerBatch, options_.length, heads, head_width()};
    return builder_.node(graph::Transpose{{0, 2, 1, 3}}, {reshape(x, split)});
  }

  // Repeats each key/value head for every query head that shares it.
  ValueId repeated(ValueId x) {
    const int64_t kv = options_.kv_heads, each = options_.heads / kv;
    if (each == 1) return x;
    const Dims one = {kTransformerBatch, kv, 1, options_.length, head_width()};
    const Dims all = {kTransformerBatch, kv, each, options_.length, head_width()};
    return reshape(builder_.node(graph::Expand{all}, {reshape(x, one)}),
                   {kTransformerBatch, options_.heads, options_.length, head_width()});
  }

  // Queries, keys and values by heads.
  std::vector<ValueId> projections(ValueId x) {
    const int64_t heads[] = {options_.heads, options_.kv_heads, options_.kv_heads};
    std::vector<ValueId> parts;
    if (options_.projections == Projections::kApart) {
      for (const int64_t count : heads)
        parts.push_back(by_heads(product(x, options_.width, count * head_width()), count));
      return parts;
    }
    const int64_t columns = (heads[0] + heads[1] + heads[2]) * head_width();
    const ValueId all = product(x, options_.width, columns);
    if (options_.projections == Projections::kGathered) return gathered(all);
    int64_t begin = 0;
    for (const int64_t count : heads) {
      const int64_t size = count * head_width();
      const graph::Slice slice{
          {0, 0, begin}, {kTransformerBatch, options_.length, size}, {1, 1, 1}};
      parts.push_back(by_heads(builder_.node(slice, {all}), count));
      begin += size;
    }
    return parts;
  }

  std::vector<ValueId> gathered(ValueId all) {
    const ValueId apart = builder_.node(
        graph::Transpose{{2, 0, 3, 1, 4}},
        {reshape(all, {kTransformerBatch, options_.length, 3, options_.heads, head_width()})});
    std::vector<ValueId> parts;
    for (int64_t i = 0; i < 3; ++i) {
      const ValueId index =
          builder_.integers({}, tensor::DataType::kInt64, std::vector<int64_t>{i});
      parts.push_back(builder_.node(graph::Gather{0}, {apart, index}));
    }
    return parts;
  }

  ValueId attention(ValueId x) {
    const std::vector<ValueId> parts = projections(x);
    const float scale = 1 / std::sqrt(static_cast<float>(head_width()));
    const ValueId scores =
        builder_.node(graph::MatMul{false, true, scale, {}}, {parts[0], repeated(parts[1])});
    const ValueId masked = add(scores, weights({options_.length, options_.length}, 1));
    const ValueId chances = builder_.node(graph::Softmax{3, false}, {masked});
    const ValueId read = builder_.node(graph::MatMul{}, {chances, repeated(parts[2])});
    const ValueId rows = reshape(builder_.node(graph::Transpose{{0, 2, 1, 3}}, {read}),
                                 {kTransformerBatch, options_.length, options_.width});
    return product(rows, options_.width, options_.width);
  }

  ValueId feed_forward(ValueId x) {
    const auto inner = [&](graph::UnaryKind function) {
      return product(x, options_.width, options_.hidden, {function, 0, 0});
    };
    if (!options_.is_gated)
      return product(inner(graph::UnaryKind::kGelu), options_.hidden, options_.width);
    const ValueId gate = inner(graph::UnaryKind::kSwish);
    const ValueId gated = builder_.node(graph::Binary{graph::BinaryKind::kMul},
                                        {gate, inner(graph::UnaryKind::kIdentity)});
    return product(gated, options_.hidden, options_.width);
  }

  const Transformer options_;
  ModelBuilder builder_;
  uint32_t seed_ = 0;
};

}  // namespace

graph::Graph make_transformer(const Transformer& options) {
  return Builder(options).build();
}

}  // namespace millrace::test
