#include "fallback/activation.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "fallback/element.h"

namespace millrace::fallback {
namespace {

// A function with the parameters that it has, and their default values.
struct Row {
  const char* name;
  ActivationKind kind;
  bool has_alpha = false, has_beta = false;
  float alpha = 0, beta = 0;
};

constexpr std::array kRows = {
    Row{"Relu", ActivationKind::kRelu},
    Row{"Tanh", ActivationKind::kTanh},
    Row{"Sigmoid", ActivationKind::kSigmoid},
    Row{"Affine", ActivationKind::kAffine, true, true, 1, 0},
    Row{"LeakyRelu", ActivationKind::kLeakyRelu, true, false, 0.01f, 0},
    Row{"ThresholdedRelu", ActivationKind::kThresholdedRelu, true, false, 1, 0},
    Row{"ScaledTanh", ActivationKind::kScaledTanh, true, true, 1, 1},
    Row{"HardSigmoid", ActivationKind::kHardSigmoid, true, true, 0.2f, 0.5f},
    Row{"Elu", ActivationKind::kElu, true, false, 1, 0},
    Row{"Softsign", ActivationKind::kSoftsign},
    Row{"Softplus", ActivationKind::kSoftplus},
};

// Compares names without regard to case: models write them in any case.
bool same_name(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
  return std::ranges::equal(a, b, {}, lower, lower);
}

// Returns the values of an attribute one after the other.
class Parameters {
 public:
  explicit Parameters(const std::vector<float>* values) : values_(values) {}

  float next(float absent) {
    if (values_ == nullptr || taken_ == values_->size()) return absent;
    return (*values_)[taken_++];
  }

 private:
  const std::vector<float>* values_;
  size_t taken_ = 0;
};

Result<const Row*> row_of(std::string_view name) {
  const auto row =
      std::ranges::find_if(kRows, [&](const Row& entry) { return same_name(entry.name, name); });
  if (row != kRows.end()) return &*row;
  return invalid_argument(fmt::format("unknown activation '{}'", name));
}

const Row& row_of(ActivationKind kind) {
  return *std::ranges::find(kRows, kind, &Row::kind);
}

}  // namespace

float RecurrentActivation::operator()(float x) const noexcept {
  switch (kind) {
    case ActivationKind::kRelu:
      return reference::Relu{}(x);
    case ActivationKind::kTanh:
      return std::tanh(x);
    case ActivationKind::kSigmoid:
      return reference::sigmoid(x);
    case ActivationKind::kAffine:
      return alpha * x + beta;
    case ActivationKind::kLeakyRelu:
      return reference::leaky_relu(x, alpha);
    case ActivationKind::kThresholdedRelu:
      return x < alpha ? 0 : x;
    case ActivationKind::kScaledTanh:
      return alpha * std::tanh(beta * x);
    case ActivationKind::kHardSigmoid:
      return reference::hard_sigmoid(x, alpha, beta);
    case ActivationKind::kElu:
      return reference::elu(x, alpha);
    case ActivationKind::kSoftsign:
      return x / (1 + std::fabs(x));
    case ActivationKind::kSoftplus:
      return reference::softplus(x);
  }
  return x;
}

Result<std::vector<RecurrentActivation>> recurrent_activations(
    const NodeView& node, size_t count, std::span<const ActivationKind> defaults) {
  const auto* names = node.texts("activations");
  if (names != nullptr && names->size() != count)
    return invalid_argument(fmt::format("{} activations; expected {}", names->size(), count));
  Parameters alphas(node.reals("activation_alpha")), betas(node.reals("activation_beta"));
  std::vector<RecurrentActivation> activations;
  for (size_t i = 0; i < count; ++i) {
    const Row* row = &row_of(defaults[i % defaults.size()]);
    if (names != nullptr) {
      MILLRACE_ASSIGN_OR_RETURN(row, row_of((*names)[i]));
    }
    RecurrentActivation activation{row->kind, row->alpha, row->beta};
    if (row->has_alpha) activation.alpha = alphas.next(row->alpha);
    if (row->has_beta) activation.beta = betas.next(row->beta);
    activations.push_back(activation);
  }
  return activations;
}

}  // namespace millrace::fallback
