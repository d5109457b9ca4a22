// The tables behind capability.h: the types per operator and function, and the Fallbacks for which
// the device has fast kernels.
#include "graph/capability.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <string_view>

#include "graph/shape.h"

namespace millrace::graph {
namespace {

using tensor::DataType;

constexpr TypeSet kFloats = {DataType::kBf16, DataType::kFp16, DataType::kFloat32};
constexpr TypeSet kIntegers = {DataType::kInt8,   DataType::kUint8, DataType::kInt16,
                               DataType::kUint16, DataType::kInt32, DataType::kUint32,
                               DataType::kInt64,  DataType::kUint64};
constexpr TypeSet kAll = kFloats | kIntegers | TypeSet{DataType::kBoolean, DataType::kFloat64};
constexpr TypeSet kBytes = {DataType::kInt8, DataType::kUint8};
constexpr TypeSet kNone = {};

constexpr Capability kCapabilities[] = {
    {"Conv", nullptr, kFloats, kFloats},
    {"Pool", "Max", kFloats | kBytes, kNone},
    {"Pool", nullptr, kFloats, kNone},
    {"GlobalPool", nullptr, kFloats, kNone},
    {"MatMul", nullptr, kFloats, kFloats},
    {"Unary", "Identity", kAll, kNone},
    {"Unary", nullptr, kFloats, kNone},
    {"Binary", nullptr, kFloats, kFloats},
    {"BatchNormalization", nullptr, kFloats, kFloats},
    {"Softmax", nullptr, kFloats, kNone},
    {"Concat", nullptr, kAll, kAll},
    {"Reshape", nullptr, kAll, kNone},
    {"Transpose", nullptr, kAll, kNone},
    {"Slice", nullptr, kAll, kNone},
    {"Gather", nullptr, kAll, kIntegers},
    {"Pad", nullptr, kAll, kNone},
    {"Resize", nullptr, kFloats, kNone},
    {"Reduce", nullptr, kFloats, kNone},
    {"Cast", nullptr, kAll, kNone},
    {"Expand", nullptr, kAll, kNone},
    {"Requantise", nullptr, kFloats, kNone},
    // The shape function of the operator refuses types that its kernel does not support.
    {"Fallback", nullptr, kAll, kAll},
};

// The Fallbacks that NPU partitions run, with the types of the first operand that they support.
struct NpuFallback {
  std::string_view name;
  TypeSet first;
};
constexpr TypeSet kFloat32 = {DataType::kFloat32};
constexpr NpuFallback kNpuFallbacks[] = {
    {"ConvInteger", kBytes},
    {"ConvTranspose", kFloat32},
    {"DequantizeLinear", kBytes | TypeSet{DataType::kInt16, DataType::kUint16}},
    {"DynamicQuantizeLinear", kFloat32},
    {"GRU", kFloat32},
    {"Gelu", kFloat32},
    {"GroupNormalization", kFloat32},
    {"InstanceNormalization", kFloat32},
    {"LSTM", kFloat32},
    {"LayerNormalization", kFloat32},
    {"MatMulInteger", kBytes},
    {"QuantizeLinear", kFloat32},
    {"RNN", kFloat32},
    {"com.microsoft.Gelu", kFloat32},
    {"com.microsoft.QuickGelu", kFloat32},
    {"millrace.Attention", kFloat32},
    {"millrace.ConvIntegerToFloat", kBytes},
    {"millrace.MatMulIntegerToFloat", kBytes},
    {"millrace.RoundedLSTM", kFloat32},
};

constexpr std::array<const char*, kReduceKindCount> kReduceNames = {"Sum", "Mean", "Max", "Min",
                                                                    "Prod"};

const char* name_of(ReduceKind kind) noexcept {
  const auto index = static_cast<size_t>(kind);
  return index < kReduceNames.size() ? kReduceNames[index] : "?";
}

const char* name_of(PoolKind kind) noexcept {
  return kind == PoolKind::kMax ? "Max" : "Average";
}

struct FunctionOf {
  const char* operator()(const Unary& op) const { return graph::name_of(op.function.kind); }
  const char* operator()(const Binary& op) const { return graph::name_of(op.kind); }
  const char* operator()(const Pool& op) const { return name_of(op.kind); }
  const char* operator()(const GlobalPool& op) const { return name_of(op.kind); }
  const char* operator()(const Reduce& op) const { return name_of(op.kind); }
  template <class Op>
  const char* operator()(const Op&) const {
    return nullptr;
  }
};

// Names the operator in messages: "Conv", "Reduce Sum"; an elementwise function goes by its own
// name, "Add".
std::string describe(const Operator& op) {
  const char* function = function_of(op);
  if (function == nullptr) return name_of(op);
  const bool elementwise = std::holds_alternative<Unary>(op) || std::holds_alternative<Binary>(op);
  return elementwise ? function : fmt::format("{} {}", name_of(op), function);
}

Status no_kernel(const Operator& op, DataType type, TypeSet known) {
  return unsupported(fmt::format("there is no kernel for {} of {}, only of {}", describe(op),
                                 tensor::to_string(type), to_string(known)));
}

bool is_empty(const Value* value) {
  return value != nullptr && value->elements() == 0;
}

// Whether the result is a sum or product over no elements: it has elements although an operand is
// empty. The kernels require at least one term.
bool sums_nothing(const Operator& op, std::span<const Value* const> inputs) {
  const bool sums = std::holds_alternative<Conv>(op) || std::holds_alternative<MatMul>(op) ||
                    std::holds_alternative<Reduce>(op);
  if (!sums || std::ranges::none_of(inputs, is_empty)) return false;
  const Result<ValueType> output = infer_output(op, inputs);
  return output.ok() && std::ranges::find(output->shape, 0) == output->shape.end();
}

}  // namespace

std::string to_string(TypeSet types) {
  std::string names;
  for (int number = 1; number < tensor::kDataTypeCount; ++number) {
    const auto type = static_cast<DataType>(number);
    if (!types.contains(type)) continue;
    if (!names.empty()) names += ", ";
    names += tensor::to_string(type);
  }
  return names;
}

std::span<const Capability> capabilities() noexcept {
  return kCapabilities;
}

const char* function_of(const Operator& op) noexcept {
  return op.valueless_by_exception() ? nullptr : std::visit(FunctionOf{}, op);
}

const Capability& capability_of(const Operator& op) noexcept {
  static constexpr Capability kUnknown = {"?", nullptr, kNone, kNone};
  const std::string_view name = std::holds_alternative<Fallback>(op) ? "Fallback" : name_of(op);
  const char* const function = function_of(op);
  for (const Capability& row : kCapabilities) {
    if (name != row.op) continue;
    if (row.function == nullptr) return row;
    if (function != nullptr && std::string_view(function) == row.function) return row;
  }
  return kUnknown;
}

Status check_capability(const Operator& op, std::span<const Value* const> inputs) {
  if (sums_nothing(op, inputs))
    return unsupported(fmt::format("there is no kernel for {} over no elements", describe(op)));
  const Capability& row = capability_of(op);
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i] == nullptr) continue;
    const TypeSet known = i == 0 ? row.first : row.others;
    if (!known.contains(inputs[i]->type)) return no_kernel(op, inputs[i]->type, known);
  }
  return {};
}

Status check_capability(const Graph& graph, const Node& node) {
  return check_capability(node.op, SeenOperands(graph, node).all());
}

bool runs_on_npu(const Graph& graph, const Node& node) noexcept {
  const auto* fallback = std::get_if<Fallback>(&node.op);
  if (fallback == nullptr) return true;
  const auto* row = std::ranges::find(kNpuFallbacks, fallback->name, &NpuFallback::name);
  const ValueId first = node.input(0);
  return row != std::end(kNpuFallbacks) && first != kNoValue &&
         row->first.contains(graph.values[first].type);
}

Status check_capabilities(const Graph& graph) {
  std::string missing;
  for (const Node& node : graph.nodes) {
    const Status status = check_capability(graph, node);
    if (status.ok()) continue;
    missing +=
        fmt::format("{}node '{}': {}", missing.empty() ? "" : "; ", node.name, status.message());
  }
  return missing.empty() ? Status() : unsupported(std::move(missing));
}

}  // namespace millrace::graph
