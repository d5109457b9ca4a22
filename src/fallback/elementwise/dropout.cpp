// Dropout at inference: it copies its input, and its mask is all true.
#include <algorithm>
#include <cstring>

#include "fallback/common_shapes.h"
#include "fallback/element.h"
#include "fallback/families.h"

namespace millrace::fallback {
namespace {

constexpr size_t kTrainingMode = 2;

Status shape_of_dropout(Inference& node) {
  if (node.has(kTrainingMode)) {
    const TensorView& training = node.in(kTrainingMode);
    if (training.type != DataType::kBoolean || training.elements() != 1)
      return invalid_argument("training_mode must be one BOOLEAN");
    MILLRACE_RETURN_IF_ERROR(node.require_elements(kTrainingMode));
    if (training.as<uint8_t>()[0] != 0)
      return unsupported("training_mode is set, but only inference is supported");
  }
  node.set(0, node.in(0).type, to_dims(node.in(0).dims));
  node.set(1, DataType::kBoolean, to_dims(node.in(0).dims));
  return {};
}

Status dropout(const Call& call) {
  const TensorView& x = call.in(0);
  const size_t bytes = x.elements() * tensor::size_of(x.type);
  if (bytes > 0) std::memcpy(call.out(0).data, x.data, bytes);
  if (call.output_count() > 1) std::ranges::fill(call.out(1).as<uint8_t>(), uint8_t{1});
  return {};
}

constexpr AttributeSpec kAttributes[] = {{"ratio", AttributeKind::kFloat},
                                         {"seed", AttributeKind::kInteger}};

}  // namespace

std::span<const OperatorSpec> dropout_operators() noexcept {
  static constexpr OperatorSpec kOperators[] = {
      {"Dropout", 10, {1, 3}, {1, 2}, kReals, shape_of_dropout, dropout, kAttributes},
  };
  return kOperators;
}

}  // namespace millrace::fallback
