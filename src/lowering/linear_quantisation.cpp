#include "lowering/linear_quantisation.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>

#include "fallback/narrow_types.h"
#include "graph/shape.h"

namespace millrace::lowering {
namespace {

using graph::Quantisation;
using graph::Value;
using tensor::DataType;

int64_t integer_attribute(const graph::Fallback& op, std::string_view name, int64_t absent) {
  const auto entry = std::ranges::find(op.attributes, name, &graph::Attribute::name);
  if (entry == op.attributes.end()) return absent;
  const auto* value = std::get_if<int64_t>(&entry->value);
  return value != nullptr ? *value : absent;
}

template <class T>
std::vector<int32_t> widened(const Value& value) {
  const auto elements = value.constant->as<T>();
  return {elements.begin(), elements.end()};
}

std::vector<int32_t> integers_of(const Value& value) {
  switch (value.type) {
    case DataType::kInt8:
      return widened<int8_t>(value);
    case DataType::kUint8:
      return widened<uint8_t>(value);
    case DataType::kInt32:
      return widened<int32_t>(value);
    default:
      return {};
  }
}

bool is_possible(float scale) {
  return std::isfinite(scale) && scale > 0;
}

bool has_quantised_type(DataType type) {
  return is_byte(type) || type == DataType::kInt32;
}

// Repeats a single parameter `count` times.
template <class T>
void spread(std::vector<T>& numbers, size_t count) {
  if (numbers.size() == 1) numbers.resize(count, numbers.front());
}

}  // namespace

IntegerLimits integer_limits(DataType type) {
  if (type == DataType::kInt8) return {-128, 127};
  if (type == DataType::kUint8) return {0, 255};
  return {std::numeric_limits<int32_t>::min(), std::numeric_limits<int32_t>::max()};
}

bool is_byte(DataType type) {
  return type == DataType::kInt8 || type == DataType::kUint8;
}

std::optional<Quantisation> make_quantisation(const Value& scale, const Value* zero_point,
                                              DataType integers, int64_t axis,
                                              const graph::Dims& shape) {
  if (!has_quantised_type(integers)) return std::nullopt;
  if (!scale.constant || scale.type != DataType::kFloat32 || scale.shape.size() > 1)
    return std::nullopt;
  if (zero_point != nullptr &&
      (!zero_point->constant || zero_point->type != integers || zero_point->shape.size() > 1))
    return std::nullopt;
  const auto scales = scale.constant->as<float>();
  Quantisation result{{scales.begin(), scales.end()}, {0}, 0};
  if (zero_point != nullptr) result.zero_points = integers_of(*zero_point);
  const size_t count = std::max(result.scales.size(), result.zero_points.size());
  spread(result.scales, count);
  spread(result.zero_points, count);
  if (count == 0 || result.scales.size() != result.zero_points.size()) return std::nullopt;
  if (!std::ranges::all_of(result.scales, is_possible)) return std::nullopt;
  if (count == 1) return result;
  const auto dimension = graph::normalise_axis(axis, shape.size());
  if (!dimension.ok() || static_cast<uint64_t>(shape[*dimension]) != count) return std::nullopt;
  result.axis = static_cast<uint32_t>(*dimension);
  return result;
}

std::optional<Quantisation> quantisation_of(const graph::Fallback& op,
                                            std::span<const Value* const> operands,
                                            DataType integers) {
  if (op.name != "QuantizeLinear" && op.name != "DequantizeLinear") return std::nullopt;
  if (operands.size() < 2 || operands[0] == nullptr || operands[1] == nullptr) return std::nullopt;
  if (integer_attribute(op, "block_size", 0) != 0) return std::nullopt;
  // The graph holds narrow integers in bytes, which would saturate at other limits, and narrow
  // floating-point types as FLOAT32.
  const bool is_narrow = op.name == "QuantizeLinear" &&
                         fallback::narrow_type(integer_attribute(op, "output_dtype", 0)) != nullptr;
  if (is_narrow || !tensor::is_integer(integers)) return std::nullopt;
  const graph::Dims& shape = operands[0]->shape;
  // The default axis, 1, does not exist in a vector.
  int64_t axis = integer_attribute(op, "axis", 1);
  if (axis == 1 && shape.size() == 1) axis = 0;
  const Value* zero_point = operands.size() > 2 ? operands[2] : nullptr;
  return make_quantisation(*operands[1], zero_point, integers, axis, shape);
}

bool dequantises_constant(const graph::Fallback& op, std::span<const Value* const> operands) {
  if (op.name != "DequantizeLinear" || operands.empty() || operands[0] == nullptr) return false;
  // Passes that match a scalar constant need it as FLOAT32 (scalar_of()).
  if (!operands[0]->constant || operands[0]->elements() < 2) return false;
  return quantisation_of(op, operands, operands[0]->type).has_value();
}

}  // namespace millrace::lowering
