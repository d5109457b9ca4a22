// BitCast: interprets the bits of elements as another type of the same width. A graph does not hold
// all types of the standard as they are, so bits are those of the type that the model states: the
// attribute `from` has its number where it differs from the type in the graph.
#include <fmt/format.h>

#include <array>
#include <cstring>

#include "fallback/common_shapes.h"
#include "fallback/element.h"
#include "fallback/families.h"
#include "fallback/narrow_types.h"
#include "tensor/half.h"

namespace millrace::fallback {
namespace {

constexpr int64_t kFp16 = 10, kBf16 = 16;  // numbers of types that a graph holds as FLOAT32

// A type of the standard: its width, and how a graph holds it.
struct BitType {
  int64_t number;
  DataType held;
  size_t bits;
  const NarrowType* narrow;
};

Result<BitType> bit_type(int64_t number) {
  if (const NarrowType* narrow = narrow_type(number))
    return BitType{number, narrow->held, static_cast<size_t>(narrow->bits), narrow};
  MILLRACE_ASSIGN_OR_RETURN(const DataType held, type_of_number(number));
  const bool is_half = number == kFp16 || number == kBf16;
  return BitType{number, held, is_half ? 16 : 8 * tensor::size_of(held), nullptr};
}

// The number of a type that a graph holds as it is.
Result<BitType> bit_type_of(DataType type) {
  constexpr std::array kNumbers = {1, 2, 3, 4, 5, 6, 7, 9, 11, 12, 13};
  for (const int number : kNumbers) {
    const Result<BitType> found = bit_type(number);
    if (found.ok() && found->held == type) return found;
  }
  return unsupported(fmt::format("the bits of {} are not known", tensor::to_string(type)));
}

Result<BitType> source_type(const NodeView& node) {
  return node.has_attribute("from") ? bit_type(node.integer("from")) : bit_type_of(node.in(0).type);
}

Status shape_of_bit_cast(Inference& node) {
  MILLRACE_ASSIGN_OR_RETURN(const BitType from, source_type(node));
  MILLRACE_ASSIGN_OR_RETURN(const BitType to, bit_type(node.integer("to")));
  if (from.held != node.in(0).type)
    return invalid_argument("its input does not have the type from which it casts");
  if (from.bits != to.bits)
    return invalid_argument(
        fmt::format("it casts elements of {} bits to elements of {} bits", from.bits, to.bits));
  node.set(0, to.held, to_dims(node.in(0).dims));
  return {};
}

uint64_t bits_of(const BitType& type, const std::byte* element) {
  uint64_t bits = 0;
  std::memcpy(&bits, element, tensor::size_of(type.held));
  if (type.held != DataType::kFloat32)
    return type.narrow == nullptr ? bits : bits & ((uint64_t{1} << type.bits) - 1);
  float value;
  std::memcpy(&value, element, sizeof(value));
  if (type.number == kFp16) return tensor::float_to_fp16(value);
  if (type.number == kBf16) return tensor::float_to_bf16(value);
  return type.narrow == nullptr ? bits : code_of_value(*type.narrow, value);
}

void set_bits(const BitType& type, uint64_t bits, std::byte* element) {
  if (type.held == DataType::kBoolean) bits = bits != 0 ? 1 : 0;
  if (type.narrow != nullptr || type.number == kFp16 || type.number == kBf16) {
    const float value = type.number == kFp16 ? tensor::fp16_to_float(static_cast<uint16_t>(bits))
                        : type.number == kBf16
                            ? tensor::bf16_to_float(static_cast<uint16_t>(bits))
                            : value_of_code(*type.narrow, static_cast<uint8_t>(bits));
    if (type.held == DataType::kFloat32)
      std::memcpy(&bits, &value, sizeof(value));
    else
      bits = static_cast<uint8_t>(static_cast<int>(value));
  }
  std::memcpy(element, &bits, tensor::size_of(type.held));
}

Status bit_cast(const Call& call) {
  MILLRACE_ASSIGN_OR_RETURN(const BitType from, source_type(call));
  MILLRACE_ASSIGN_OR_RETURN(const BitType to, bit_type(call.integer("to")));
  const size_t from_size = tensor::size_of(from.held), to_size = tensor::size_of(to.held);
  for (size_t i = 0; i < call.out(0).elements(); ++i)
    set_bits(to, bits_of(from, call.in(0).data + i * from_size), call.out(0).data + i * to_size);
  return {};
}

constexpr AttributeSpec kBitCast[] = {{"from", AttributeKind::kInteger},
                                      {"to", AttributeKind::kInteger}};

}  // namespace

std::span<const OperatorSpec> bit_cast_operators() noexcept {
  static constexpr OperatorSpec kOperators[] = {
      {"BitCast", 26, {}, {}, kAll, shape_of_bit_cast, bit_cast, kBitCast},
  };
  return kOperators;
}

}  // namespace millrace::fallback
