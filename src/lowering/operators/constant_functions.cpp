// Handlers of operators that are neither operators of the graph nor fallback operators: Constant,
// ConstantOfShape, Shape, Size and Range. They compute the result in the lowering, from constants
// (Shape and Size: from the static shape).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "graph/shape.h"
#include "lowering/operators/bounded_constant.h"
#include "lowering/operators/handlers.h"

namespace millrace::lowering {
namespace {

using graph::Dims;
using graph::Value;
using tensor::DataType;

Value int64_constant(Dims elements, Dims shape) {
  return {{}, DataType::kInt64, std::move(shape), graph::Constant::of(elements)};
}

// Returns all operands that are present, which must be constants.
Result<std::vector<const Value*>> constants(const NodeImport& node) {
  std::vector<const Value*> values;
  for (size_t i = 0; i < node.operand_count(); ++i) {
    if (!node.has(i)) continue;
    MILLRACE_RETURN_IF_ERROR(node.require_constant(i));
    values.push_back(&node.value(i));
  }
  return values;
}

// Returns storage for the result, within the folding budget.
Result<MutableConstant> storage(NodeImport& node, DataType type, Dims shape) {
  MILLRACE_RETURN_IF_ERROR(graph::check_shape(shape));  // its elements may come from a running job
  return bounded_constant(node, type, std::move(shape), "its result");
}

// Returns the constant that a Constant node states by one of several attributes, which exclude each
// other.
Result<Value> stated_constant(NodeImport& node) {
  if (const auto* tensor = node.tensor_attribute("value")) return *tensor;
  if (node.has_attribute("value_float")) {
    const std::vector<float> element = {node.float_attribute("value_float", 0)};
    return Value{{}, DataType::kFloat32, {}, graph::Constant::of(element)};
  }
  if (node.has_attribute("value_int")) {
    return int64_constant({node.int_attribute("value_int", 0)}, {});
  }
  if (const auto elements = node.floats_attribute("value_floats")) {
    const Dims shape = {static_cast<int64_t>(elements->size())};
    return Value{{}, DataType::kFloat32, shape, graph::Constant::of(*elements)};
  }
  if (const auto elements = node.ints_attribute("value_ints")) {
    return int64_constant(*elements, {static_cast<int64_t>(elements->size())});
  }
  return unsupported("it has none of the attributes value, value_float(s) and value_int(s)");
}

// The number of elements of a Range; nothing if it is infinite or beyond kMost.
template <class T>
std::optional<int64_t> range_length(T start, T limit, T delta) {
  if (delta == T{0}) return std::nullopt;
  const double length = std::ceil((static_cast<double>(limit) - static_cast<double>(start)) /
                                  static_cast<double>(delta));
  // 2^40: far beyond any computed constant, and exact in a double.
  constexpr double kMost = 1099511627776.0;
  if (!(length <= kMost)) return std::nullopt;
  return length > 0 ? static_cast<int64_t>(length) : 0;
}

// Whether the elements of a Range are computed in FLOAT64 instead of FLOAT32. The attribute is for
// FLOAT16 and BFLOAT16, which are FLOAT32 here.
Result<bool> computes_in_double(NodeImport& node) {
  constexpr int64_t kFloat = 1, kDouble = 11;
  const int64_t type = node.int_attribute("stash_type", kFloat);
  if (type == kFloat || type == kDouble) return type == kDouble;
  return invalid_argument(
      fmt::format("stash_type is {}; expected {} (FLOAT) or {} (DOUBLE)", type, kFloat, kDouble));
}

// Writes the elements of a Range. Since opset 27 floating-point ones are start + i * delta,
// computed in Sum; before, each is the one before it plus delta.
template <class Sum, class T>
void count_from(T start, T delta, bool multiplies, std::span<T> to) {
  T next = start;
  for (size_t i = 0; i < to.size(); ++i) {
    to[i] = next;
    if constexpr (std::is_integral_v<T>) {
      next = static_cast<T>(static_cast<uint64_t>(next) + static_cast<uint64_t>(delta));
    } else if (multiplies) {
      next = static_cast<T>(static_cast<Sum>(start) +
                            static_cast<Sum>(i + 1) * static_cast<Sum>(delta));
    } else {
      next += delta;
    }
  }
}

}  // namespace

Result<ValueId> import_constant(NodeImport& node) {
  MILLRACE_ASSIGN_OR_RETURN(Value value, stated_constant(node));
  value.name.clear();
  return node.builder().add_constant(std::move(value));
}

Result<ValueId> import_constant_of_shape(NodeImport& node) {
  MILLRACE_ASSIGN_OR_RETURN(const Dims shape, node.constant_ints(0));
  Value fill{{}, DataType::kFloat32, {1}, graph::Constant::of(std::vector<float>{0})};
  if (const auto* tensor = node.tensor_attribute("value")) fill = *tensor;
  if (fill.elements() != 1) return invalid_argument("its value must have one element");
  MILLRACE_ASSIGN_OR_RETURN(MutableConstant result, storage(node, fill.type, shape));
  MILLRACE_RETURN_IF_ERROR(visit_element(fill.type, [&](auto zero) -> Status {
    using T = decltype(zero);
    std::ranges::fill(result.as<T>(), fill.constant->as<T>()[0]);
    return {};
  }));
  return node.add_computed(std::move(result.value));
}

Result<ValueId> import_shape(NodeImport& node) {
  const Dims shape = node.shape(0);
  const auto rank = static_cast<int64_t>(shape.size());
  const auto position = [rank](int64_t index) {
    return index < 0 ? std::max(index, -rank) + rank : std::min(index, rank);
  };
  const int64_t start = position(node.int_attribute("start", 0));
  const int64_t end = position(node.int_attribute("end", rank));
  Dims part;
  for (int64_t d = start; d < end; ++d) part.push_back(shape[static_cast<size_t>(d)]);
  const Dims part_shape = {static_cast<int64_t>(part.size())};
  return node.add_computed(int64_constant(std::move(part), part_shape));
}

Result<ValueId> import_size(NodeImport& node) {
  return node.add_computed(int64_constant({static_cast<int64_t>(node.value(0).elements())}, {}));
}

// Range of com.microsoft may leave out the step, which is then 1.
Result<ValueId> import_range(NodeImport& node) {
  MILLRACE_ASSIGN_OR_RETURN(const auto operands, constants(node));
  const DataType type = operands[0]->type;
  for (const Value* operand : operands) {
    if (operand->type != type || operand->elements() != 1) {
      return invalid_argument("its operands must be scalars of one type");
    }
  }
  MILLRACE_ASSIGN_OR_RETURN(const bool in_double, computes_in_double(node));
  const bool multiplies = node.opset() >= 27;
  MutableConstant result;
  MILLRACE_RETURN_IF_ERROR(visit_element(type, [&](auto zero) -> Status {
    using T = decltype(zero);
    const T start = operands[0]->constant->as<T>()[0];
    const T delta = operands.size() > 2 ? operands[2]->constant->as<T>()[0] : T{1};
    const auto length = range_length(start, operands[1]->constant->as<T>()[0], delta);
    if (!length) return invalid_argument("its range is infinite or has more than 2^40 elements");
    MILLRACE_ASSIGN_OR_RETURN(result, storage(node, type, {*length}));
    if (in_double)
      count_from<double>(start, delta, multiplies, result.as<T>());
    else
      count_from<T>(start, delta, multiplies, result.as<T>());
    return {};
  }));
  return node.add_computed(std::move(result.value));
}

}  // namespace millrace::lowering
