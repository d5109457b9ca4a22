#include "device/cpu/kernels/quantised/parameters.h"

#include <algorithm>
#include <utility>

#include "device/cpu/weights/quantisation_run.h"

namespace millrace::device::cpu::kernels::quantised {

using graph::ValueId;
using tensor::DataType;

std::optional<tensor::ElementRule> rule_of(const Builder& builder, ValueId id) {
  const DataType type = builder.value(id).type;
  const bool is_bytes = type == DataType::kInt8 || type == DataType::kUint8;
  if (!is_bytes || !builder.is_quantised(id)) return std::nullopt;
  const graph::Quantisation& quantisation = builder.quantisation(id);
  if (quantisation.is_per_axis()) return std::nullopt;
  return tensor::ElementRule{quantisation.scales[0], quantisation.zero_points[0]};
}

bool same_quantisation(const Builder& builder, ValueId a, ValueId b) {
  return rule_of(builder, a) && rule_of(builder, b) &&
         builder.value(a).type == builder.value(b).type &&
         builder.quantisation(a).scales == builder.quantisation(b).scales &&
         builder.quantisation(a).zero_points == builder.quantisation(b).zero_points;
}

Result<Operand> dense(Builder& builder, ValueId id) {
  MILLRACE_ASSIGN_OR_RETURN(const Operand location, builder.stored(id));
  if (is_dense(location.desc) && !has_padding(location.desc)) return location;
  return builder.stored_in(id, builder.plain_stored_form(id));
}

namespace {

template <class T>
std::optional<std::vector<int8_t>> without_zero_points(const graph::Value& constant) {
  const graph::Quantisation& quantisation = *constant.quantisation;
  const auto integers = constant.constant->as<T>();
  const size_t run = elements_per_run(constant);
  std::vector<int8_t> elements(integers.size());
  for (size_t i = 0; i < elements.size(); ++i) {
    const int32_t element =
        integers[i] - quantisation.zero_points[i / run % quantisation.zero_points.size()];
    if (!std::in_range<int8_t>(element)) return std::nullopt;
    elements[i] = static_cast<int8_t>(element);
  }
  return elements;
}

}  // namespace

std::optional<Weights> weights_of(const Builder& builder, ValueId id, uint32_t axis) {
  if (!builder.is_constant(id) || !builder.is_quantised(id)) return std::nullopt;
  const graph::Value& constant = builder.value(id);
  if (constant.type == DataType::kInt32) return std::nullopt;
  const graph::Quantisation& quantisation = builder.quantisation(id);
  if (quantisation.is_per_axis() && quantisation.axis != axis) return std::nullopt;
  auto elements = constant.type == DataType::kInt8 ? without_zero_points<int8_t>(constant)
                                                   : without_zero_points<uint8_t>(constant);
  if (!elements) return std::nullopt;
  return Weights{*std::move(elements), quantisation.scales};
}

int64_t largest_sum(std::span<const int8_t> weights, size_t row) {
  int64_t largest = 0;
  for (size_t first = 0; first < weights.size(); first += row) {
    int64_t positive = 0, negative = 0;
    for (const int8_t element : weights.subspan(first, row))
      (element > 0 ? positive : negative) += element;
    largest = std::max({largest, positive * 255, negative * -255});
  }
  return largest;
}

}  // namespace millrace::device::cpu::kernels::quantised
