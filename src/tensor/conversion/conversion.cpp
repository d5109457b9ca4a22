// A conversion to the HW view runs two loop nests: one fills the padded channels with zero, the
// other converts the elements; a conversion to the CPU view runs the reverse of the second. For a
// FLOAT32 image in blocks, the vector kernels of kernels.h replace these passes where they exist.
#include "tensor/conversion/conversion.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "tensor/conversion/kernels.h"
#include "tensor/conversion/strided.h"
#include "tensor/geometry.h"

namespace millrace::tensor {
namespace {

// Converts the elements of some loop nests in one direction.
struct Pass {
  size_t from_size;
  size_t to_size;
  StridedKernel strided;
  ContiguousKernel contiguous;  // or null
  std::vector<Box> boxes;

  void run(const void* from, void* to, const ElementRule& rule) const noexcept {
    for (const Box& box : boxes)
      for_each_row(box, [&](size_t from_index, size_t to_index, const Dim& dim) {
        const auto* source = static_cast<const std::byte*>(from) + from_index * from_size;
        auto* target = static_cast<std::byte*>(to) + to_index * to_size;
        if (contiguous != nullptr && dim.from_stride == 1 && dim.to_stride == 1)
          contiguous(source, target, dim.extent, rule);
        else
          strided(source, dim.from_stride, target, dim.to_stride, dim.extent, rule);
      });
  }
};

// The vector kernels round to nearest only.
bool may_use_vectors(DataType from, DataType to, const ElementRule& rule) {
  return from == to || !rule.toward_zero;
}

Pass make_pass(DataType from, DataType to, const ElementRule& rule, std::vector<Box> boxes) {
  return {size_of(from), size_of(to), strided_kernel(from, to),
          may_use_vectors(from, to, rule) ? contiguous_kernel(from, to) : nullptr,
          std::move(boxes)};
}

// Converts a blocked image row by row with vector kernels, padded channels included.
struct BlockedPass {
  BlockedImage image;
  BlockKernels kernels;
  size_t hw_size;

  // Calls visit(index of the first element on the planar side, byte offset on the blocked side,
  // number of channels) for each row of each block.
  template <class Visit>
  void for_each_row_of_blocks(const Visit& visit) const noexcept {
    const size_t row_bytes = image.pixels * image.block * hw_size;
    // Rows are the inner loop, so that the planes of a block are read sequentially.
    for (size_t block = 0; block < image.blocks(); ++block)
      for (size_t row = 0; row < image.rows; ++row) {
        const size_t first = block * image.block;
        visit(first * image.channel_stride() + row * image.pixels,
              (row * image.blocks() + block) * row_bytes,
              std::min(image.block, image.channels - first));
      }
  }

  void to_hw(const void* cpu, void* hw, const ElementRule& rule) const noexcept {
    for_each_row_of_blocks([&](size_t element, size_t offset, size_t channels) {
      kernels.pack(static_cast<const float*>(cpu) + element, image.channel_stride(), channels,
                   static_cast<std::byte*>(hw) + offset, image.pixels, rule);
    });
  }

  void to_cpu(const void* hw, void* cpu, const ElementRule& rule) const noexcept {
    for_each_row_of_blocks([&](size_t element, size_t offset, size_t channels) {
      kernels.unpack(static_cast<const std::byte*>(hw) + offset, static_cast<float*>(cpu) + element,
                     image.channel_stride(), channels, image.pixels, rule);
    });
  }
};

std::optional<BlockedPass> make_blocked_pass(const TensorDesc& cpu, const TensorDesc& hw,
                                             const ElementRule& rule,
                                             const std::optional<BlockedImage>& image) {
  if (!image || image->pixels < BlockKernels::kMinPixels) return std::nullopt;
  if (cpu.type != DataType::kFloat32 || !may_use_vectors(cpu.type, hw.type, rule))
    return std::nullopt;
  const BlockKernels kernels = block_kernels(hw.type, static_cast<uint32_t>(image->block));
  if (kernels.pack == nullptr) return std::nullopt;
  return BlockedPass{*image, kernels, size_of(hw.type)};
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
  std::optional<BlockedPass> blocked;  // if present, it replaces the three passes
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

// Returns the rule for a pair of types. Only conversions between floating-point and integer types
// quantise.
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
      Plan{rule, make_pass(cpu.type, hw.type, rule, std::move(geometry.padding)),
           make_pass(cpu.type, hw.type, rule, std::move(geometry.values)),
           make_pass(hw.type, cpu.type, rule, std::move(back)),
           make_blocked_pass(cpu, hw, rule, geometry.image)}));
}

Conversion::Conversion(std::unique_ptr<const Plan> plan) : plan_(std::move(plan)) {}
Conversion::Conversion(Conversion&&) noexcept = default;
Conversion& Conversion::operator=(Conversion&&) noexcept = default;
Conversion::~Conversion() = default;

void Conversion::to_hw(const void* cpu, void* hw) const noexcept {
  if (plan_->blocked) return plan_->blocked->to_hw(cpu, hw, plan_->rule);
  // In every data type, zero has all bits 0.
  static constexpr uint64_t kZero = 0;
  plan_->pad.run(&kZero, hw, plan_->rule);
  plan_->to_hw.run(cpu, hw, plan_->rule);
}

void Conversion::to_cpu(const void* hw, void* cpu) const noexcept {
  if (plan_->blocked) return plan_->blocked->to_cpu(hw, cpu, plan_->rule);
  plan_->to_cpu.run(hw, cpu, plan_->rule);
}

}  // namespace millrace::tensor
