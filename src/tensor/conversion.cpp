#include "tensor/conversion.h"

#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <vector>

#include "tensor/geometry.h"
#include "tensor/strided.h"

namespace millrace::tensor {
namespace {

// One direction: how to turn the boxes of a geometry into bytes.
struct Pass {
  size_t from_size;
  size_t to_size;
  StridedKernel strided;
  std::vector<Box> boxes;

  void run(const void* from, void* to, const ElementRule& rule) const noexcept {
    for (const Box& box : boxes)
      for_each_row(box, [&](size_t from_index, size_t to_index, const Dim& dim) {
        const auto* source = static_cast<const std::byte*>(from) + from_index * from_size;
        auto* target = static_cast<std::byte*>(to) + to_index * to_size;
        strided(source, dim.from_stride, target, dim.to_stride, dim.extent, rule);
      });
  }
};

Pass make_pass(DataType from, DataType to, std::vector<Box> boxes) {
  return {size_of(from), size_of(to), strided_kernel(from, to), std::move(boxes)};
}

std::vector<Box> reversed_boxes(const std::vector<Box>& boxes) {
  std::vector<Box> result;
  for (const Box& box : boxes) result.push_back(simplified(reversed(box)));
  return result;
}

}  // namespace

struct Conversion::Plan {
  ElementRule rule;
  Pass pad;
  Pass to_hw;
  Pass to_cpu;
};

namespace {

Status check_zero_point(const TensorDesc& view, int32_t zero_point) {
  const double bits = static_cast<double>(size_of(view.type)) * 8;
  const bool is_signed = view.type == DataType::kInt8 || view.type == DataType::kInt16 ||
                         view.type == DataType::kInt32 || view.type == DataType::kInt64;
  const double lowest = is_signed ? -std::exp2(bits - 1) : 0.0;
  const double highest = std::exp2(is_signed ? bits - 1 : bits) - 1;
  if (zero_point >= lowest && zero_point <= highest) return {};
  return invalid_argument(fmt::format("tensor \"{}\": zero point {} is outside {}", view.name,
                                      zero_point, to_string(view.type)));
}

// The rule for a pair of types; only a pair of floating and integer type is quantised.
Result<ElementRule> make_rule(const TensorDesc& cpu, const TensorDesc& hw,
                              const QuantParams& quant) {
  ElementRule rule;
  rule.toward_zero = quant.rounding == Rounding::kTowardZero;
  const bool quantised = (is_floating(cpu.type) && is_integer(hw.type)) ||
                         (is_integer(cpu.type) && is_floating(hw.type));
  if (!quantised) return rule;
  rule.scale = static_cast<float>(quant.scale);
  rule.zero_point = quant.zero_point;
  if (!std::isfinite(rule.scale) || !(rule.scale > 0.0f))
    return invalid_argument(fmt::format(
        "tensor \"{}\": the quantisation scale {} is no positive number", cpu.name, quant.scale));
  MILLRACE_RETURN_IF_ERROR(check_zero_point(is_integer(hw.type) ? hw : cpu, rule.zero_point));
  return rule;
}

}  // namespace

Result<Conversion> Conversion::plan(const TensorDesc& cpu, const TensorDesc& hw,
                                    const QuantParams& quant) {
  MILLRACE_ASSIGN_OR_RETURN(Geometry geometry, plan_geometry(cpu, hw));
  MILLRACE_ASSIGN_OR_RETURN(const ElementRule rule, make_rule(cpu, hw, quant));
  std::vector<Box> back = reversed_boxes(geometry.values);
  return Conversion(std::make_unique<const Plan>(
      Plan{rule, make_pass(cpu.type, hw.type, std::move(geometry.padding)),
           make_pass(cpu.type, hw.type, std::move(geometry.values)),
           make_pass(hw.type, cpu.type, std::move(back))}));
}

Conversion::Conversion(std::unique_ptr<const Plan> plan) : plan_(std::move(plan)) {}
Conversion::Conversion(Conversion&&) noexcept = default;
Conversion& Conversion::operator=(Conversion&&) noexcept = default;
Conversion::~Conversion() = default;

void Conversion::to_hw(const void* cpu, void* hw) const noexcept {
  // All zero bits are the value zero in every data type.
  static constexpr uint64_t kZero = 0;
  plan_->pad.run(&kZero, hw, plan_->rule);
  plan_->to_hw.run(cpu, hw, plan_->rule);
}

void Conversion::to_cpu(const void* hw, void* cpu) const noexcept {
  plan_->to_cpu.run(hw, cpu, plan_->rule);
}

}  // namespace millrace::tensor
