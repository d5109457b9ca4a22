// Block floating point, as AMD's quantiser emulates it (BFPQuantizeDequantize, BFPFixNeuron): the
// elements of a block share one exponent. Each element is rounded to a value that its block can
// represent, and stays FLOAT32. Blocks lie along one axis.
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "fallback/axis.h"
#include "fallback/common_shapes.h"
#include "fallback/element.h"
#include "fallback/families.h"
#include "tensor/element.h"

namespace millrace::fallback {
namespace {

// How ties are rounded.
enum class Rounding : int64_t { kAwayFromZero = 0, kUpward = 1, kToEven = 2 };

struct Format {
  // Sub-blocks have their own exponents, slightly below that of the block (microexponents; the
  // formats MX4, MX6 and MX9).
  bool has_sub_blocks = false;
  size_t block = 8, sub_block = 2;
  int mantissa_bits = 7;
  int most_shift = 1;  // the most by which the exponent of a sub-block is lower
  Rounding rounding = Rounding::kAwayFromZero;
};

constexpr int kBias = 127, kNoNumber = 255;  // FLOAT32 exponents: bias; infinity and NaN

int biased_exponent(float value) {
  return static_cast<int>(std::bit_cast<uint32_t>(value) >> 23 & 0xff);
}

int largest_exponent(std::span<const float> values) {
  int largest = 0;
  for (const float value : values) largest = std::max(largest, biased_exponent(value));
  return largest;
}

double round_by(Rounding rounding, double value) {
  if (rounding == Rounding::kAwayFromZero) return std::round(value);
  if (rounding == Rounding::kUpward) return std::floor(value + 0.5);
  return tensor::round_to_even(value);
}

// Rounds a block without sub-blocks. Infinities and NaN stay unchanged and do not affect the shared
// exponent.
void round_block(const Format& format, std::span<float> block) {
  int shared = 0;
  for (const float value : block)
    if (biased_exponent(value) != kNoNumber) shared = std::max(shared, biased_exponent(value));
  const double step = std::ldexp(1.0, shared - kBias - (format.mantissa_bits - 1));
  const double largest = std::ldexp(1.0, shared - kBias + 1) - step;
  for (float& value : block) {
    if (biased_exponent(value) == kNoNumber) continue;
    const double rounded = round_by(format.rounding, value / step) * step;
    value = static_cast<float>(std::clamp(rounded, -largest, largest));
  }
}

// Rounds a block with sub-blocks. Subnormal values become 0; if an element is not finite, the whole
// block becomes NaN.
void round_sub_blocks(const Format& format, std::span<float> block) {
  const int shared = largest_exponent(block);
  if (shared == kNoNumber) {
    std::ranges::fill(block, std::numeric_limits<float>::quiet_NaN());
    return;
  }
  for (size_t begin = 0; begin < block.size(); begin += format.sub_block) {
    const auto part = block.subspan(begin, std::min(format.sub_block, block.size() - begin));
    const int shift = std::min(shared - largest_exponent(part), format.most_shift);
    const double step = std::ldexp(1.0, shared - kBias - shift + 1 - format.mantissa_bits);
    for (float& value : part) {
      const double number = biased_exponent(value) == 0 ? std::copysign(0.0, value) : value;
      value = static_cast<float>(round_by(format.rounding, number / step) * step);
    }
  }
}

Result<Format> format_of(const NodeView& node) {
  for (const char* name : {"convert_to_bfloat_before_bfp", "use_compiler_version_cpu_kernel"})
    if (node.integer(name) != 0) return unsupported(std::string(name) + " is set");
  Format format;
  const std::string method = node.text("bfp_method", "to_bfp");
  format.has_sub_blocks = method == "to_bfp_prime" || method == "to_bfp_prime_shared";
  if (!format.has_sub_blocks && method != "to_bfp")
    return invalid_argument("unknown bfp_method '" + method + "'");
  const int64_t width = node.integer("bit_width", 16), block = node.integer("block_size", 8),
                sub_block = node.integer("sub_block_size", 2),
                shift_bits = node.integer("sub_block_shift_bits", 1),
                rounding = node.integer("rounding_mode", 0);
  // The width counts 8 bits of exponent, the sign, and up to 23 bits of mantissa as in FLOAT32.
  if (width < 10 || width > 32) return invalid_argument("bit_width must be from 10 to 32");
  if (block < 1 || sub_block < 1 || block % sub_block != 0)
    return invalid_argument("block_size must be a positive multiple of sub_block_size");
  if (shift_bits < 0 || shift_bits > 8)
    return invalid_argument("sub_block_shift_bits must be from 0 to 8");
  if (rounding < 0 || rounding > 2) return invalid_argument("rounding_mode must be from 0 to 2");
  format.block = static_cast<size_t>(block);
  format.sub_block = static_cast<size_t>(sub_block);
  format.mantissa_bits = static_cast<int>(width - 9);
  format.most_shift = (1 << shift_bits) - 1;
  format.rounding = static_cast<Rounding>(rounding);
  return format;
}

// Returns the axis along which blocks lie. A vector has only one.
Result<size_t> axis_of(const NodeView& node) {
  if (node.in(0).rank() <= 1) return size_t{0};
  return graph::normalise_axis(node.integer("axis", 1), node.in(0).rank());
}

Status shape_of_bfp(Inference& node) {
  MILLRACE_RETURN_IF_ERROR(format_of(node).status());
  MILLRACE_RETURN_IF_ERROR(axis_of(node).status());
  return same_as_first(node);
}

Status bfp(const Call& call) {
  MILLRACE_ASSIGN_OR_RETURN(const Format format, format_of(call));
  const auto x = call.in(0).as<float>();
  const auto y = call.out(0).as<float>();
  std::ranges::copy(x, y.begin());
  // A single element is copied, as by AMD's operator.
  if (x.size() == 1) return {};
  const AxisSplit split(call.in(0).dims, *axis_of(call));
  std::vector<float> line(split.size);
  for (size_t index = 0; index < split.lines(); ++index) {
    float* const first = y.data() + split.start(index);
    for (size_t i = 0; i < line.size(); ++i) line[i] = first[i * split.inner];
    for (size_t begin = 0; begin < line.size(); begin += format.block) {
      const auto block =
          std::span(line).subspan(begin, std::min(format.block, line.size() - begin));
      format.has_sub_blocks ? round_sub_blocks(format, block) : round_block(format, block);
    }
    for (size_t i = 0; i < line.size(); ++i) first[i * split.inner] = line[i];
  }
  return {};
}

constexpr AttributeSpec kAttributes[] = {
    {"axis", AttributeKind::kInteger},
    {"bfp_method", AttributeKind::kText},
    {"bit_width", AttributeKind::kInteger},
    {"block_size", AttributeKind::kInteger},
    {"convert_to_bfloat_before_bfp", AttributeKind::kInteger},
    {"rounding_mode", AttributeKind::kInteger},
    {"sub_block_shift_bits", AttributeKind::kInteger},
    {"sub_block_size", AttributeKind::kInteger},
    {"use_compiler_version_cpu_kernel", AttributeKind::kInteger}};

}  // namespace

std::span<const OperatorSpec> block_floating_point_operators() noexcept {
  static constexpr OperatorSpec kOperators[] = {
      {"com.amd.quark.BFPQuantizeDequantize", 1, {}, {}, kFloats, shape_of_bfp, bfp, kAttributes},
      {"com.vai.quantize.BFPFixNeuron", 1, {}, {}, kFloats, shape_of_bfp, bfp, kAttributes},
  };
  return kOperators;
}

}  // namespace millrace::fallback
