// Checks a node against the row of its operator before its shape function runs, and calls the
// kernel. A std::bad_alloc of the kernel becomes kOutOfMemory.
#include "fallback/evaluate.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "base/contained.h"
#include "fallback/operator_table.h"

namespace millrace::fallback {
namespace {

bool is_of_kind(const graph::Attribute::Value& value, AttributeKind kind) {
  const auto own = static_cast<AttributeKind>(value.index());
  if (kind == AttributeKind::kNumbers)
    return own == AttributeKind::kIntegers || own == AttributeKind::kFloats;
  return own == kind;
}

Status check_attributes(const OperatorSpec& spec, const graph::Fallback& op) {
  const auto not_ascending =
      std::ranges::adjacent_find(op.attributes, std::greater_equal<>{}, &graph::Attribute::name);
  if (not_ascending != op.attributes.end())
    return invalid_argument(
        fmt::format("its attribute '{}' stands twice, or before one that comes "
                    "earlier in the alphabet",
                    not_ascending->name));
  for (const graph::Attribute& attribute : op.attributes) {
    const auto known =
        std::ranges::find(spec.attributes, std::string_view(attribute.name), &AttributeSpec::name);
    if (known == spec.attributes.end())
      return unsupported(fmt::format("its attribute '{}' is not supported", attribute.name));
    if (!is_of_kind(attribute.value, known->kind))
      return invalid_argument(fmt::format("its attribute '{}' has the wrong kind", known->name));
  }
  return {};
}

Status check_first_type(const OperatorSpec& spec, std::span<const TensorView> inputs) {
  if (inputs.empty() || !inputs[0].present() || spec.types.contains(inputs[0].type)) return {};
  return unsupported(fmt::format("there is no kernel for {} of {}, only of {}", spec.name,
                                 tensor::to_string(inputs[0].type), to_string(spec.types)));
}

Status check_outputs(std::span<const graph::ValueType> outputs) {
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (outputs[i].type == DataType::kUnknown)
      return invalid_argument(fmt::format("it has no output {}", i));
    if (Status status = graph::check_shape(outputs[i].shape); !status.ok())
      return status.with_context(fmt::format("output {}", i));
  }
  return {};
}

}  // namespace

Result<std::vector<graph::ValueType>> infer_outputs(const graph::Fallback& op,
                                                    std::span<const TensorView> inputs,
                                                    size_t outputs, std::vector<size_t>* asked) {
  const OperatorSpec* spec = find_operator(op.name);
  if (spec == nullptr) return unsupported(fmt::format("there is no operator {}", op.name));
  MILLRACE_RETURN_IF_ERROR(
      check_inputs(inputs.size(), spec->inputs, [&](size_t i) { return inputs[i].present(); }));
  MILLRACE_RETURN_IF_ERROR(check_count("outputs", outputs, spec->outputs));
  MILLRACE_RETURN_IF_ERROR(check_attributes(*spec, op));
  MILLRACE_RETURN_IF_ERROR(check_first_type(*spec, inputs));
  std::vector<graph::ValueType> types(outputs);
  Inference node(op, inputs, types);
  const Status status = spec->shape(node);
  if (asked != nullptr) asked->insert(asked->end(), node.asked().begin(), node.asked().end());
  MILLRACE_RETURN_IF_ERROR(status);
  MILLRACE_RETURN_IF_ERROR(check_outputs(types));
  return types;
}

Result<std::shared_ptr<const void>> prepare(const graph::Fallback& op) {
  const OperatorSpec* spec = find_operator(op.name);
  if (spec == nullptr || spec->prepare == nullptr) return std::shared_ptr<const void>();
  return spec->prepare(NodeView(op, {}));
}

Status run(const graph::Fallback& op, std::span<const TensorView> inputs,
           std::span<const OutputView> outputs, const void* prepared) noexcept {
  const OperatorSpec* spec = find_operator(op.name);
  if (spec != nullptr) return run(*spec, op, inputs, outputs, prepared);
  return contained(
      [&]() -> Status { return unsupported(fmt::format("there is no operator {}", op.name)); });
}

Status run(const OperatorSpec& spec, const graph::Fallback& op, std::span<const TensorView> inputs,
           std::span<const OutputView> outputs, const void* prepared) noexcept {
  return contained(
      [&]() -> Status {
        const auto is_empty = [](const OutputView& output) { return output.elements() == 0; };
        if (std::ranges::all_of(outputs, is_empty)) return Status();
        std::shared_ptr<const void> own;
        if (prepared == nullptr && spec.prepare != nullptr) {
          MILLRACE_ASSIGN_OR_RETURN(own, spec.prepare(NodeView(op, {})));
          prepared = own.get();
        }
        return spec.kernel(Call(op, inputs, outputs, prepared));
      },
      "not enough memory for a kernel");
}

}  // namespace millrace::fallback
