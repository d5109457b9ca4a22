#include "tests/e2e/ranks/transformer.h"

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
    const graph::Fallback op{"LayerNormalization", {{"axis", int64_t{-1}}}};
    return builder_.fallback(op,
                             {x, weights({options_.width}, 1), weights({options_.width}, 0.1f)})[0];
  }

  // [1, length, width] as [1, heads, length, width / heads].
  ValueId by_heads(ValueId x) {
    const Dims split = {kTransformerBatch, options_.length, options_.heads,
                        options_.width / options_.heads};
    return builder_.node(graph::Transpose{{0, 2, 1, 3}},
                         {builder_.node(graph::Reshape{split}, {x})});
  }

  std::vector<ValueId> projections(ValueId x) {
    const int64_t width = options_.width;
    if (!options_.fused_projections)
      return {product(x, width, width), product(x, width, width), product(x, width, width)};
    const ValueId all = product(x, width, 3 * width);
    std::vector<ValueId> parts;
    for (int64_t i = 0; i < 3; ++i)
      parts.push_back(builder_.node(
          graph::Slice{{0, 0, i * width}, {kTransformerBatch, options_.length, width}, {1, 1, 1}},
          {all}));
    return parts;
  }

  ValueId attention(ValueId x) {
    const std::vector<ValueId> parts = projections(x);
    const float scale = 1 / std::sqrt(static_cast<float>(options_.width / options_.heads));
    const ValueId scores = builder_.node(graph::MatMul{false, true, scale, {}},
                                         {by_heads(parts[0]), by_heads(parts[1])});
    const ValueId masked = add(scores, weights({options_.length, options_.length}, 1));
    const ValueId chances = builder_.node(graph::Softmax{3, false}, {masked});
    const ValueId read = builder_.node(graph::MatMul{}, {chances, by_heads(parts[2])});
    const Dims joined = {kTransformerBatch, options_.length, options_.width};
    const ValueId rows = builder_.node(graph::Reshape{joined},
                                       {builder_.node(graph::Transpose{{0, 2, 1, 3}}, {read})});
    return product(rows, options_.width, options_.width);
  }

  ValueId feed_forward(ValueId x) {
    const ValueId inner =
        product(x, options_.width, options_.hidden, {graph::UnaryKind::kGelu, 0, 0});
    return product(inner, options_.hidden, options_.width);
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
