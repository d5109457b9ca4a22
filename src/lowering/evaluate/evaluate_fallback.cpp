#include "lowering/evaluate/evaluate_fallback.h"

#include "fallback/evaluate.h"
#include "lowering/evaluate/constant_data.h"

namespace millrace::lowering {

std::vector<fallback::TensorView> views_of(std::span<const graph::Value* const> operands) {
  std::vector<fallback::TensorView> views;
  for (const graph::Value* value : operands) {
    views.emplace_back();
    if (value == nullptr) continue;
    views.back() = {value->type, value->shape,
                    value->constant ? value->constant->bytes.data() : nullptr};
  }
  return views;
}

Result<std::vector<graph::Value>> evaluate_fallback(const graph::Fallback& op,
                                                    std::span<const fallback::TensorView> operands,
                                                    std::span<const graph::ValueType> types) {
  std::vector<graph::Value> results;
  std::vector<fallback::OutputView> views;
  for (const graph::ValueType& type : types) {
    MILLRACE_ASSIGN_OR_RETURN(MutableConstant result, make_constant(type.type, type.shape));
    views.push_back({type.type, type.shape, result.data});
    results.push_back(std::move(result.value));
  }
  MILLRACE_RETURN_IF_ERROR(fallback::run(op, operands, views));
  return results;
}

}  // namespace millrace::lowering
