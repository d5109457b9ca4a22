// LinearAttention of com.microsoft: attention without a softmax, as a recurrence over the tokens of
// each head. The state S is a matrix [d_k, d_v]; with the rule gated_delta (Gated Delta Networks,
// Yang et al., 2024), each token computes
//
//   S = exp(decay) S;   S = S + beta k (v - S^T k)^T;   output = scale S^T q
//
// The rules gated and delta leave out one of both: the part of beta becomes k v^T, and the decay 1.
// The rule linear leaves out both. Heads are consecutive parts of a row of the operands.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "fallback/common_shapes.h"
#include "fallback/element.h"
#include "fallback/families.h"

namespace millrace::fallback {
namespace {

constexpr size_t kQ = 0, kK = 1, kV = 2, kPastState = 3, kDecay = 4, kBeta = 5;

struct Recurrence {
  size_t batch = 0, tokens = 0;
  size_t query_heads = 0, key_heads = 0, heads = 0;  // `heads` is the number of states
  size_t key_size = 0, value_size = 0;               // d_k and d_v
  bool decays = false, corrects = false;
  size_t decays_of_head = 1;  // 1, or one for each row of the state
  bool one_beta = false;      // for all heads
  float scale = 1;

  size_t state_size() const { return key_size * value_size; }
  size_t output_heads() const { return std::max(query_heads, heads); }
};

Status read_rule(const NodeView& node, Recurrence* r) {
  const std::string rule = node.text("update_rule", "gated_delta");
  r->decays = rule == "gated" || rule == "gated_delta";
  r->corrects = rule == "delta" || rule == "gated_delta";
  if (!r->decays && !r->corrects && rule != "linear")
    return invalid_argument(fmt::format("unknown update_rule '{}'", rule));
  if (r->decays && !node.has(kDecay))
    return invalid_argument(fmt::format("update_rule {} needs a decay", rule));
  if (r->corrects && !node.has(kBeta))
    return invalid_argument(fmt::format("update_rule {} needs a beta", rule));
  return {};
}

// Returns whether one number is a multiple of another, which is not 0.
bool divides(size_t divisor, size_t number) {
  return divisor > 0 && number > 0 && number % divisor == 0;
}

Status read_heads(const NodeView& node, Recurrence* r) {
  const int64_t queries = node.integer("q_num_heads"), heads = node.integer("kv_num_heads");
  if (queries < 1 || heads < 1)
    return invalid_argument("q_num_heads and kv_num_heads must be positive");
  r->query_heads = static_cast<size_t>(queries);
  r->heads = static_cast<size_t>(heads);
  const auto width = [&](size_t index) { return static_cast<size_t>(node.in(index).dims[2]); };
  const bool divided = divides(r->query_heads, width(kQ)) && divides(r->heads, width(kV));
  if (divided) {
    r->key_size = width(kQ) / r->query_heads;
    r->value_size = width(kV) / r->heads;
    r->key_heads = width(kK) / r->key_size;
  }
  const bool fits = divided && r->key_heads * r->key_size == width(kK) &&
                    divides(r->key_heads, r->heads) &&
                    (divides(r->heads, r->query_heads) || divides(r->query_heads, r->heads));
  if (fits) return {};
  return invalid_argument(fmt::format(
      "query {}, key {} and value {} cannot be divided into {} and {} heads",
      graph::to_string(to_dims(node.in(kQ).dims)), graph::to_string(to_dims(node.in(kK).dims)),
      graph::to_string(to_dims(node.in(kV).dims)), queries, heads));
}

// Whether an operand is [batch, tokens, width].
bool is_sequence(const NodeView& node, size_t index, const Recurrence& r, size_t width) {
  const TensorView& x = node.in(index);
  return x.type == node.in(kQ).type &&
         to_dims(x.dims) == Dims{static_cast<int64_t>(r.batch), static_cast<int64_t>(r.tokens),
                                 static_cast<int64_t>(width)};
}

Status read_gates(const NodeView& node, Recurrence* r) {
  if (r->decays) {
    const bool by_row = is_sequence(node, kDecay, *r, r->heads * r->key_size);
    if (!by_row && !is_sequence(node, kDecay, *r, r->heads))
      return invalid_argument(
          "its decay must be [batch, tokens, heads] or [batch, tokens, heads * size]");
    r->decays_of_head = is_sequence(node, kDecay, *r, r->heads) ? 1 : r->key_size;
  }
  if (r->corrects) {
    r->one_beta = !is_sequence(node, kBeta, *r, r->heads);
    if (r->one_beta && !is_sequence(node, kBeta, *r, 1))
      return invalid_argument("its beta must be [batch, tokens, heads] or [batch, tokens, 1]");
  }
  return {};
}

Dims dims_of_state(const Recurrence& r) {
  return {static_cast<int64_t>(r.batch), static_cast<int64_t>(r.heads),
          static_cast<int64_t>(r.key_size), static_cast<int64_t>(r.value_size)};
}

Result<Recurrence> recurrence_of(const NodeView& node) {
  for (const size_t index : {kQ, kK, kV})
    if (node.in(index).rank() != 3 || node.in(index).type != node.in(kQ).type ||
        !std::ranges::equal(node.in(index).dims.first(2), node.in(kQ).dims.first(2)))
      return invalid_argument("query, key and value must be [batch, tokens, size] of one type");
  Recurrence r;
  r.batch = static_cast<size_t>(node.in(kQ).dims[0]);
  r.tokens = static_cast<size_t>(node.in(kQ).dims[1]);
  MILLRACE_RETURN_IF_ERROR(read_rule(node, &r));
  MILLRACE_RETURN_IF_ERROR(read_heads(node, &r));
  MILLRACE_RETURN_IF_ERROR(read_gates(node, &r));
  r.scale = node.real("scale");
  if (r.scale == 0) r.scale = 1 / std::sqrt(static_cast<float>(r.key_size));
  if (node.has(kPastState) && (node.in(kPastState).type != node.in(kQ).type ||
                               to_dims(node.in(kPastState).dims) != dims_of_state(r)))
    return invalid_argument(fmt::format("its past state must be {} of the type of its query",
                                        graph::to_string(dims_of_state(r))));
  return r;
}

Status shape_of_linear_attention(Inference& node) {
  if (node.integer("state_window") != 0)
    return unsupported("a window of states (state_window) is not supported");
  MILLRACE_ASSIGN_OR_RETURN(const Recurrence r, recurrence_of(node));
  Dims dims = to_dims(node.in(kQ).dims);
  dims.back() = static_cast<int64_t>(r.output_heads() * r.value_size);
  node.set(0, node.in(kQ).type, std::move(dims));
  node.set(1, node.in(kQ).type, dims_of_state(r));
  return {};
}

// The operands of one token and head.
struct Token {
  const float *key, *value, *decay;
  float beta;
};

// The state of one head, [key_size, value_size], which is updated in place.
class HeadState {
 public:
  HeadState(const Recurrence& r, std::span<float> state)
      : r_(r), state_(state), added_(r.value_size) {}

  void update(const Token& token) {
    if (r_.decays) decay(token.decay);
    std::copy_n(token.value, r_.value_size, added_.begin());
    if (r_.corrects) correct(token);
    for (size_t i = 0; i < r_.key_size; ++i) {
      float* const row = state_.data() + i * r_.value_size;
      for (size_t j = 0; j < r_.value_size; ++j) row[j] += token.key[i] * added_[j];
    }
  }

  // Computes scale S^T query.
  void read(const float* query, float* to) const {
    std::fill_n(to, r_.value_size, 0.0f);
    for (size_t i = 0; i < r_.key_size; ++i) {
      const float* const row = state_.data() + i * r_.value_size;
      const float factor = r_.scale * query[i];
      for (size_t j = 0; j < r_.value_size; ++j) to[j] += factor * row[j];
    }
  }

 private:
  void decay(const float* decays) {
    for (size_t i = 0; i < r_.key_size; ++i) {
      const float factor = std::exp(decays[r_.decays_of_head == 1 ? 0 : i]);
      float* const row = state_.data() + i * r_.value_size;
      for (size_t j = 0; j < r_.value_size; ++j) row[j] *= factor;
    }
  }

  // Replaces the value by beta (value - S^T key).
  void correct(const Token& token) {
    for (size_t i = 0; i < r_.key_size; ++i) {
      const float* const row = state_.data() + i * r_.value_size;
      for (size_t j = 0; j < r_.value_size; ++j) added_[j] -= token.key[i] * row[j];
    }
    for (float& element : added_) element *= token.beta;
  }

  const Recurrence& r_;
  std::span<float> state_;
  std::vector<float> added_;  // the vector that the outer product with the key adds
};

Token token_of(const Call& call, const Recurrence& r, size_t at, size_t head) {
  const size_t key_head = head / (r.heads / r.key_heads);
  Token token{};
  token.key = call.in(kK).as<float>().data() + (at * r.key_heads + key_head) * r.key_size;
  token.value = call.in(kV).as<float>().data() + (at * r.heads + head) * r.value_size;
  if (r.decays)
    token.decay = call.in(kDecay).as<float>().data() + (at * r.heads + head) * r.decays_of_head;
  if (r.corrects) token.beta = call.in(kBeta).as<float>()[r.one_beta ? at : at * r.heads + head];
  return token;
}

// Computes the outputs that read the state of a head. Several query heads share a state, or, if
// there are more states, several states a query head.
void read_outputs(const Call& call, const Recurrence& r, const HeadState& state, size_t at,
                  size_t head) {
  const size_t shared = r.query_heads > r.heads ? r.query_heads / r.heads : 1;
  for (size_t i = 0; i < shared; ++i) {
    const size_t output = head * shared + i;
    const size_t query = output / (r.output_heads() / r.query_heads);
    state.read(call.in(kQ).as<float>().data() + (at * r.query_heads + query) * r.key_size,
               call.out(0).as<float>().data() + (at * r.output_heads() + output) * r.value_size);
  }
}

Status linear_attention(const Call& call) {
  MILLRACE_ASSIGN_OR_RETURN(const Recurrence r, recurrence_of(call));
  const auto states = call.out(1).as<float>();
  if (call.has(kPastState))
    std::ranges::copy(call.in(kPastState).as<float>(), states.begin());
  else
    std::ranges::fill(states, 0.0f);
  for (size_t i = 0; i < r.batch * r.heads; ++i) {
    const size_t sample = i / r.heads, head = i % r.heads;
    HeadState state(r, states.subspan(i * r.state_size(), r.state_size()));
    for (size_t at = sample * r.tokens; at < (sample + 1) * r.tokens; ++at) {
      state.update(token_of(call, r, at, head));
      read_outputs(call, r, state, at, head);
    }
  }
  return {};
}

// chunk_size only says how much to compute at a time.
constexpr AttributeSpec kRecurrenceAttributes[] = {
    {"chunk_size", AttributeKind::kInteger},   {"kv_num_heads", AttributeKind::kInteger},
    {"q_num_heads", AttributeKind::kInteger},  {"scale", AttributeKind::kFloat},
    {"state_window", AttributeKind::kInteger}, {"update_rule", AttributeKind::kText}};

}  // namespace

std::span<const OperatorSpec> linear_attention_operators() noexcept {
  static constexpr OperatorSpec kOperators[] = {
      {"com.microsoft.LinearAttention",
       1,
       {3, 6},
       {2, 2},
       kFloats,
       shape_of_linear_attention,
       linear_attention,
       kRecurrenceAttributes},
  };
  return kOperators;
}

}  // namespace millrace::fallback
