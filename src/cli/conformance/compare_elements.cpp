// One template walks over the elements; a policy class per kind of type (Floating, Integer)
// measures the distance of two elements and prints one.
#include "cli/conformance/compare_elements.h"

#include <fmt/format.h>
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "tensor/half.h"

namespace millrace::cli {
namespace {

using ::onnx::TensorProto;

constexpr double kInfinite = std::numeric_limits<double>::infinity();

struct Distance {
  bool right = false;
  LargestError error;
};

// Returns the rank of a floating-point value, given by its bits, among all values of its type in
// ascending order. Both zeros have the same rank, so ranks differ by the distance in ULP.
template <class Bits>
uint64_t position(Bits bits) {
  constexpr uint64_t kZero = uint64_t{1} << 63;
  constexpr Bits kSign = static_cast<Bits>(Bits{1} << (8 * sizeof(Bits) - 1));
  const uint64_t magnitude = static_cast<Bits>(bits & static_cast<Bits>(~kSign));
  return (bits & kSign) != 0 ? kZero - magnitude : kZero + magnitude;
}

// A floating type: BitsOfElement has the size of an element, and kValue converts its bits to a
// double, which holds every value exactly.
template <class BitsOfElement, auto kValue>
struct Floating {
  using Element = BitsOfElement;

  static Distance distance(Element ours, Element expected, const Tolerance& tolerance) {
    const double a = kValue(ours), b = kValue(expected);
    if (a == b || (std::isnan(a) && std::isnan(b))) return {true, {0.0, 0}};
    if (!std::isfinite(a) || !std::isfinite(b)) return {false, {kInfinite, kInfinite}};
    const uint64_t at = position(ours), wanted = position(expected);
    const uint64_t steps = std::max(at, wanted) - std::min(at, wanted);
    const double apart = std::abs(a - b);
    return {steps <= 1 || apart <= tolerance.absolute + tolerance.relative * std::abs(b),
            {static_cast<double>(steps), apart}};
  }
  static std::string text(Element element) { return fmt::format("{:.9g}", kValue(element)); }
};

template <class Number>
struct Integer {
  using Element = Number;

  static Distance distance(Element ours, Element expected, const Tolerance&) {
    // Unsigned, since the difference of two signed integers may overflow their type.
    const auto larger = static_cast<uint64_t>(std::max(ours, expected));
    const auto smaller = static_cast<uint64_t>(std::min(ours, expected));
    return {ours == expected, {std::nullopt, static_cast<double>(larger - smaller)}};
  }
  static std::string text(Element element) { return fmt::format("{}", element); }
};

template <class Type>
ElementComparison compare_as(std::span<const std::byte> ours, std::span<const std::byte> expected,
                             const Tolerance& tolerance) {
  using Element = typename Type::Element;
  ElementComparison result;
  for (size_t at = 0; at < expected.size(); at += sizeof(Element)) {
    Element a, b;
    std::memcpy(&a, ours.data() + at, sizeof a);
    std::memcpy(&b, expected.data() + at, sizeof b);
    const Distance distance = Type::distance(a, b, tolerance);
    result.error.add(distance.error);
    if (distance.right) continue;
    if (result.wrong++ == 0)
      result.first = WrongElement{at / sizeof(Element), Type::text(a), Type::text(b)};
  }
  return result;
}

constexpr auto kFloatValue = [](uint32_t bits) -> double { return std::bit_cast<float>(bits); };
constexpr auto kDoubleValue = [](uint64_t bits) { return std::bit_cast<double>(bits); };
constexpr auto kHalfValue = [](uint16_t bits) -> double { return tensor::fp16_to_float(bits); };
constexpr auto kBf16Value = [](uint16_t bits) -> double { return tensor::bf16_to_float(bits); };

}  // namespace

void LargestError::add(const LargestError& other) {
  if (other.ulp) ulp = std::max(ulp.value_or(0), *other.ulp);
  absolute = std::max(absolute, other.absolute);
}

Result<ElementComparison> compare_elements(int onnx_type, std::span<const std::byte> ours,
                                           std::span<const std::byte> expected,
                                           const Tolerance& tolerance) {
  switch (onnx_type) {
    case TensorProto::FLOAT:
      return compare_as<Floating<uint32_t, kFloatValue>>(ours, expected, tolerance);
    case TensorProto::DOUBLE:
      return compare_as<Floating<uint64_t, kDoubleValue>>(ours, expected, tolerance);
    case TensorProto::FLOAT16:
      return compare_as<Floating<uint16_t, kHalfValue>>(ours, expected, tolerance);
    case TensorProto::BFLOAT16:
      return compare_as<Floating<uint16_t, kBf16Value>>(ours, expected, tolerance);
    case TensorProto::INT8:
      return compare_as<Integer<int8_t>>(ours, expected, tolerance);
    case TensorProto::INT16:
      return compare_as<Integer<int16_t>>(ours, expected, tolerance);
    case TensorProto::INT32:
      return compare_as<Integer<int32_t>>(ours, expected, tolerance);
    case TensorProto::INT64:
      return compare_as<Integer<int64_t>>(ours, expected, tolerance);
    case TensorProto::BOOL:
    case TensorProto::UINT8:
      return compare_as<Integer<uint8_t>>(ours, expected, tolerance);
    case TensorProto::UINT16:
      return compare_as<Integer<uint16_t>>(ours, expected, tolerance);
    case TensorProto::UINT32:
      return compare_as<Integer<uint32_t>>(ours, expected, tolerance);
    case TensorProto::UINT64:
      return compare_as<Integer<uint64_t>>(ours, expected, tolerance);
    default:
      return unsupported(fmt::format("elements of the ONNX type {} cannot be compared", onnx_type));
  }
}

}  // namespace millrace::cli
