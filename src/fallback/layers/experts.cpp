// MoE and QMoE of com.microsoft: mixtures of experts. A router has a score for each token and
// expert. The `k` experts with the highest scores compute a feed-forward network of the token:
//
//   y = sum over the chosen experts of weight * (W2 activation(W1 x + b1) + b2)
//
// where the weights are a softmax of the scores. A gated activation combines two products: those of
// W1 and W3, or two halves of a product with W1. The tokens of an expert are computed together, so
// that each row of weights is read, and dequantised, once for many tokens; experts that no token
// chooses cost nothing.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

#include "fallback/common_shapes.h"
#include "fallback/element.h"
#include "fallback/families.h"
#include "fallback/layers/expert_weights.h"

namespace millrace::fallback {
namespace {

constexpr size_t kInput = 0, kScores = 1;

// The operands of one layer. QMoE has scales and zero points besides.
struct LayerPlaces {
  size_t weights, bias, scales, zeros;
};
// The layers in the order fc1, fc2, fc3.
constexpr std::array<LayerPlaces, 3> kDense = {{{2, 3, 0, 0}, {4, 5, 0, 0}, {6, 7, 0, 0}}};
constexpr std::array<LayerPlaces, 3> kPacked = {{{2, 4, 3, 11}, {5, 7, 6, 12}, {8, 10, 9, 13}}};
constexpr size_t kMixingWeights = 14;  // of QMoE

enum class ExpertActivation : uint8_t { kRelu, kGelu, kSilu, kSwiglu, kIdentity };

// How the two products of a gated activation are computed (swiglu_fusion).
enum class Gates : uint8_t { kNone, kTwoLayers, kInterleaved, kConcatenated };

struct Mixture {
  size_t tokens = 0, hidden = 0, inner = 0, experts = 0;
  size_t chosen = 1;  // experts of each token
  bool normalised = false;
  ExpertActivation activation = ExpertActivation::kRelu;
  Gates gates = Gates::kNone;
  float alpha = 1, beta = 0, limit = std::numeric_limits<float>::infinity();

  // The rows of W1.
  size_t first_rows() const {
    return gates == Gates::kInterleaved || gates == Gates::kConcatenated ? 2 * inner : inner;
  }
};

Result<ExpertActivation> activation_of(const NodeView& node) {
  const std::string name = node.text("activation_type", "relu");
  if (name == "relu") return ExpertActivation::kRelu;
  if (name == "gelu") return ExpertActivation::kGelu;
  if (name == "silu") return ExpertActivation::kSilu;
  if (name == "swiglu") return ExpertActivation::kSwiglu;
  if (name == "identity") return ExpertActivation::kIdentity;
  return invalid_argument(fmt::format("unknown activation_type '{}'", name));
}

Result<Gates> gates_of(const NodeView& node, ExpertActivation activation, bool has_third) {
  const int64_t fusion = node.integer("swiglu_fusion");
  if (fusion < 0 || fusion > 2) return invalid_argument("swiglu_fusion must be 0, 1 or 2");
  if (activation != ExpertActivation::kSwiglu || fusion == 0) {
    if (activation == ExpertActivation::kSwiglu && !has_third)
      return invalid_argument("swiglu needs fc3, or a swiglu_fusion of 1 or 2");
    return has_third ? Gates::kTwoLayers : Gates::kNone;
  }
  if (has_third) return invalid_argument("fused swiglu has no fc3");
  return fusion == 1 ? Gates::kInterleaved : Gates::kConcatenated;
}

// Reads the attributes, and the dimensions that the first operands have.
Result<Mixture> mixture_of(const NodeView& node, const std::array<LayerPlaces, 3>& places) {
  const TensorView &x = node.in(kInput), &scores = node.in(kScores);
  if (node.integer("use_sparse_mixer") != 0) return unsupported("use_sparse_mixer is set");
  for (const size_t index : {places[0].weights, places[1].weights})
    if (!node.has(index)) return invalid_argument(fmt::format("its input {} is missing", index));
  const TensorView &first = node.in(places[0].weights), &second = node.in(places[1].weights);
  const bool fits =
      (x.rank() == 2 || x.rank() == 3) && x.dims.back() > 0 && scores.rank() == 2 &&
      scores.type == x.type && first.rank() == 3 && second.rank() == 3 &&
      static_cast<size_t>(scores.dims[0]) == x.elements() / static_cast<size_t>(x.dims.back());
  if (!fits)
    return invalid_argument(
        "the input [tokens, size], the scores [tokens, experts] and the weights do not fit");
  Mixture mixture;
  mixture.hidden = static_cast<size_t>(x.dims.back());
  mixture.tokens = x.elements() / mixture.hidden;
  mixture.experts = static_cast<size_t>(scores.dims[1]);
  const int64_t chosen = node.integer("k", 1);
  if (chosen < 1 || static_cast<uint64_t>(chosen) > mixture.experts)
    return invalid_argument(
        fmt::format("k is {}, but there are {} experts", chosen, mixture.experts));
  mixture.chosen = static_cast<size_t>(chosen);
  mixture.normalised = node.integer("normalize_routing_weights") != 0;
  MILLRACE_ASSIGN_OR_RETURN(mixture.activation, activation_of(node));
  MILLRACE_ASSIGN_OR_RETURN(mixture.gates,
                            gates_of(node, mixture.activation, node.has(places[2].weights)));
  mixture.alpha = node.real("activation_alpha", 1);
  mixture.beta = node.real("activation_beta", 0);
  mixture.limit = node.real("swiglu_limit", std::numeric_limits<float>::infinity());
  if (!(mixture.limit >= 0)) return invalid_argument("swiglu_limit must not be negative");
  return mixture;
}

Status check_bias(const NodeView& node, size_t index, size_t experts, size_t rows) {
  const Dims wanted = {static_cast<int64_t>(experts), static_cast<int64_t>(rows)};
  if (!node.has(index)) return {};
  if (node.in(index).type == DataType::kFloat32 && to_dims(node.in(index).dims) == wanted)
    return {};
  return invalid_argument(
      fmt::format("its input {}, a bias, must be FLOAT32 {}", index, graph::to_string(wanted)));
}

// One layer of all experts.
template <class Weights>
struct Layer {
  Weights weights;
  size_t rows = 0, columns = 0;
  const float* biases = nullptr;  // [experts, rows], or null
};

template <class Weights>
struct Layers {
  Layer<Weights> first, second, third;  // `third` only for Gates::kTwoLayers
};

Result<DenseWeights> weights_of(const NodeView& node, const LayerPlaces& places,
                                const ExpertShape& shape, DenseWeights*) {
  return DenseWeights::of(node, places.weights, shape);
}
Result<PackedWeights> weights_of(const NodeView& node, const LayerPlaces& places,
                                 const ExpertShape& shape, PackedWeights*) {
  return PackedWeights::of(node, {places.weights, places.scales, places.zeros}, shape);
}

template <class Weights>
Result<Layer<Weights>> layer_of(const NodeView& node, const LayerPlaces& places,
                                const ExpertShape& shape) {
  Layer<Weights> layer;
  MILLRACE_ASSIGN_OR_RETURN(layer.weights,
                            weights_of(node, places, shape, static_cast<Weights*>(nullptr)));
  MILLRACE_RETURN_IF_ERROR(check_bias(node, places.bias, shape.experts, shape.rows));
  layer.rows = shape.rows;
  layer.columns = shape.columns;
  if (node.has(places.bias)) layer.biases = node.in(places.bias).as<float>().data();
  return layer;
}

// Sets `inner`, and returns the layers, whose operands it checks.
template <class Weights>
Result<Layers<Weights>> layers_of(const NodeView& node, const std::array<LayerPlaces, 3>& places,
                                  Mixture& mixture) {
  const auto rows = static_cast<size_t>(node.in(places[0].weights).dims[1]);
  mixture.inner = rows;
  if (mixture.first_rows() != rows) mixture.inner = rows / 2;
  if (mixture.inner == 0 || mixture.first_rows() != rows)
    return invalid_argument("fc1 has no rows, or not two for each gate");
  Layers<Weights> layers;
  const size_t experts = mixture.experts;
  MILLRACE_ASSIGN_OR_RETURN(layers.first,
                            layer_of<Weights>(node, places[0], {experts, rows, mixture.hidden}));
  MILLRACE_ASSIGN_OR_RETURN(
      layers.second, layer_of<Weights>(node, places[1], {experts, mixture.hidden, mixture.inner}));
  if (mixture.gates != Gates::kTwoLayers) return layers;
  MILLRACE_ASSIGN_OR_RETURN(
      layers.third, layer_of<Weights>(node, places[2], {experts, mixture.inner, mixture.hidden}));
  return layers;
}

// Sixteen sums instead of one, so that the compiler can use vectors without reordering.
float dot(const float* a, const float* b, size_t size) {
  constexpr size_t kSums = 16;
  std::array<float, kSums> sums{};
  size_t i = 0;
  for (; i + kSums <= size; i += kSums)
    for (size_t j = 0; j < kSums; ++j) sums[j] += a[i + j] * b[i + j];
  float rest = 0;
  for (; i < size; ++i) rest += a[i] * b[i];
  return std::accumulate(sums.begin(), sums.end(), rest);
}

// Computes W x + b for each token: `inputs` has `count` rows, `outputs` as well.
template <class Weights>
void multiply(Layer<Weights>& layer, size_t expert, const float* inputs, size_t count,
              float* outputs) {
  for (size_t row = 0; row < layer.rows; ++row) {
    const float* const weights = layer.weights.row(expert, row);
    const float bias = layer.biases == nullptr ? 0 : layer.biases[expert * layer.rows + row];
    for (size_t i = 0; i < count; ++i)
      outputs[i * layer.rows + row] =
          bias + dot(weights, inputs + i * layer.columns, layer.columns);
  }
}

float activated(const Mixture& mixture, float x) {
  switch (mixture.activation) {
    case ExpertActivation::kRelu:
      return std::max(x, 0.0f);
    case ExpertActivation::kGelu:
      return reference::gelu_by_tanh(x);
    case ExpertActivation::kSilu:
      return x * reference::sigmoid(x);
    case ExpertActivation::kSwiglu:
      x = std::min(x, mixture.limit);
      return x * reference::sigmoid(mixture.alpha * x);
    case ExpertActivation::kIdentity:
      break;
  }
  return x;
}

// The factor by which a gated activation multiplies.
float gated(const Mixture& mixture, float x) {
  if (mixture.activation != ExpertActivation::kSwiglu) return x;
  return std::clamp(x, -mixture.limit, mixture.limit) + mixture.beta;
}

// Applies the activation to the products of one token, [first_rows], and of W3, [inner].
void activate(const Mixture& mixture, const float* products, const float* others, float* to) {
  const size_t inner = mixture.inner;
  for (size_t i = 0; i < inner; ++i) {
    switch (mixture.gates) {
      case Gates::kNone:
        to[i] = activated(mixture, products[i]);
        break;
      case Gates::kTwoLayers:
        to[i] = activated(mixture, products[i]) * gated(mixture, others[i]);
        break;
      case Gates::kInterleaved:
        to[i] = activated(mixture, products[2 * i]) * gated(mixture, products[2 * i + 1]);
        break;
      case Gates::kConcatenated:
        to[i] = activated(mixture, products[i]) * gated(mixture, products[inner + i]);
        break;
    }
  }
}

// A token that an expert computes, and the weight of the result.
struct Assignment {
  size_t token = 0;
  float weight = 0;
};

// Returns the indices of the best experts of a token. NaN counts as the lowest score.
std::vector<size_t> best_experts(std::span<const float> scores, size_t count) {
  std::vector<size_t> order(scores.size());
  std::iota(order.begin(), order.end(), size_t{0});
  const auto rank = [&](size_t expert) {
    return std::isnan(scores[expert]) ? -std::numeric_limits<float>::infinity() : scores[expert];
  };
  std::ranges::stable_sort(order, std::ranges::greater{}, rank);
  order.resize(count);
  return order;
}

// Returns the weights of the chosen experts: the softmax of their scores, over themselves if they
// are normalised and over all experts otherwise.
std::vector<float> routing_weights(const Mixture& mixture, std::span<const float> scores,
                                   std::span<const size_t> chosen) {
  const float most = scores[chosen[0]];
  std::vector<float> weights;
  for (const size_t expert : chosen) weights.push_back(std::exp(scores[expert] - most));
  float sum = 0;
  if (mixture.normalised) {
    for (const float weight : weights) sum += weight;
  } else {
    for (const float score : scores) sum += std::exp(score - most);
  }
  for (float& weight : weights) weight /= sum;
  return weights;
}

// Returns the assignments of each expert.
std::vector<std::vector<Assignment>> routed(const Call& call, const Mixture& mixture) {
  std::vector<std::vector<Assignment>> result(mixture.experts);
  const bool mixes = call.has(kMixingWeights);
  for (size_t token = 0; token < mixture.tokens; ++token) {
    const size_t begin = token * mixture.experts;
    const auto scores = call.in(kScores).as<float>().subspan(begin, mixture.experts);
    const auto chosen = best_experts(scores, mixture.chosen);
    std::vector<float> weights;
    if (mixes) {
      for (const size_t expert : chosen)
        weights.push_back(call.in(kMixingWeights).as<float>()[begin + expert]);
    } else {
      weights = routing_weights(mixture, scores, chosen);
    }
    for (size_t i = 0; i < chosen.size(); ++i) result[chosen[i]].push_back({token, weights[i]});
  }
  return result;
}

// The scratch memory for the tokens that are computed together.
class Batch {
 public:
  static constexpr size_t kTokens = 16;

  explicit Batch(const Mixture& mixture)
      : mixture_(mixture),
        inputs_(kTokens * mixture.hidden),
        products_(kTokens * mixture.first_rows()),
        others_(mixture.gates == Gates::kTwoLayers ? kTokens * mixture.inner : 0),
        activations_(kTokens * mixture.inner),
        results_(kTokens * mixture.hidden) {}

  // Adds the weighted results of an expert for some tokens of x to y.
  template <class Weights>
  void add(Layers<Weights>& layers, size_t expert, std::span<const Assignment> tokens,
           const float* x, float* y) {
    const size_t hidden = mixture_.hidden, count = tokens.size();
    for (size_t i = 0; i < count; ++i)
      std::copy_n(x + tokens[i].token * hidden, hidden, inputs_.data() + i * hidden);
    multiply(layers.first, expert, inputs_.data(), count, products_.data());
    if (!others_.empty()) multiply(layers.third, expert, inputs_.data(), count, others_.data());
    for (size_t i = 0; i < count; ++i)
      activate(mixture_, products_.data() + i * mixture_.first_rows(),
               others_.empty() ? nullptr : others_.data() + i * mixture_.inner,
               activations_.data() + i * mixture_.inner);
    multiply(layers.second, expert, activations_.data(), count, results_.data());
    for (size_t i = 0; i < count; ++i)
      for (size_t j = 0; j < hidden; ++j)
        y[tokens[i].token * hidden + j] += tokens[i].weight * results_[i * hidden + j];
  }

 private:
  const Mixture& mixture_;
  std::vector<float> inputs_, products_, others_, activations_, results_;
};

template <class Weights>
Status mix(const Call& call, const std::array<LayerPlaces, 3>& places) {
  MILLRACE_ASSIGN_OR_RETURN(Mixture mixture, mixture_of(call, places));
  MILLRACE_ASSIGN_OR_RETURN(auto layers, layers_of<Weights>(call, places, mixture));
  const auto y = call.out(0).as<float>();
  std::ranges::fill(y, 0.0f);
  Batch batch(mixture);
  const auto assignments = routed(call, mixture);
  for (size_t expert = 0; expert < assignments.size(); ++expert) {
    const std::span<const Assignment> tokens = assignments[expert];
    for (size_t begin = 0; begin < tokens.size(); begin += Batch::kTokens)
      batch.add(layers, expert,
                tokens.subspan(begin, std::min(Batch::kTokens, tokens.size() - begin)),
                call.in(kInput).as<float>().data(), y.data());
  }
  return {};
}

template <class Weights>
Status shape_of_mixture(Inference& node, const std::array<LayerPlaces, 3>& places) {
  MILLRACE_ASSIGN_OR_RETURN(Mixture mixture, mixture_of(node, places));
  MILLRACE_RETURN_IF_ERROR(layers_of<Weights>(node, places, mixture).status());
  return same_as_first(node);
}

Status shape_of_moe(Inference& node) {
  return shape_of_mixture<DenseWeights>(node, kDense);
}

Status moe(const Call& call) {
  return mix<DenseWeights>(call, kDense);
}

Status shape_of_quantised_moe(Inference& node) {
  if (node.text("quant_type", "int") != "int")
    return unsupported(
        fmt::format("quant_type '{}' is not supported; int is", node.text("quant_type")));
  if (node.integer("weights_prepacked", -1) > 0)
    return unsupported(
        "weights in the layout of another device (weights_prepacked) are not supported");
  if (node.has(kMixingWeights) &&
      (node.in(kMixingWeights).type != DataType::kFloat32 ||
       to_dims(node.in(kMixingWeights).dims) != to_dims(node.in(kScores).dims)))
    return invalid_argument("router_weights must have the type and shape of router_probs");
  return shape_of_mixture<PackedWeights>(node, kPacked);
}

Status quantised_moe(const Call& call) {
  return mix<PackedWeights>(call, kPacked);
}

constexpr AttributeSpec kMoe[] = {{"activation_alpha", AttributeKind::kFloat},
                                  {"activation_beta", AttributeKind::kFloat},
                                  {"activation_type", AttributeKind::kText},
                                  {"k", AttributeKind::kInteger},
                                  {"normalize_routing_weights", AttributeKind::kInteger},
                                  {"swiglu_fusion", AttributeKind::kInteger},
                                  {"swiglu_limit", AttributeKind::kFloat},
                                  {"use_sparse_mixer", AttributeKind::kInteger}};
// The attribute accuracy_level is ignored: it only permits lower accuracy.
constexpr AttributeSpec kQuantisedMoe[] = {{"accuracy_level", AttributeKind::kInteger},
                                           {"activation_alpha", AttributeKind::kFloat},
                                           {"activation_beta", AttributeKind::kFloat},
                                           {"activation_type", AttributeKind::kText},
                                           {"block_size", AttributeKind::kInteger},
                                           {"expert_weight_bits", AttributeKind::kInteger},
                                           {"k", AttributeKind::kInteger},
                                           {"normalize_routing_weights", AttributeKind::kInteger},
                                           {"quant_type", AttributeKind::kText},
                                           {"swiglu_fusion", AttributeKind::kInteger},
                                           {"swiglu_limit", AttributeKind::kFloat},
                                           {"use_sparse_mixer", AttributeKind::kInteger},
                                           {"weights_prepacked", AttributeKind::kInteger}};

}  // namespace

std::span<const OperatorSpec> expert_operators() noexcept {
  static constexpr OperatorSpec kOperators[] = {
      {"com.microsoft.MoE", 1, {2, 8}, {}, kFloats, shape_of_moe, moe, kMoe},
      {"com.microsoft.QMoE",
       1,
       {2, 15},
       {},
       kFloats,
       shape_of_quantised_moe,
       quantised_moe,
       kQuantisedMoe},
  };
  return kOperators;
}

}  // namespace millrace::fallback
