// A recursive pairwise reduction. Blocks of elements are widened to the type in which they are
// combined, combined over the tree of ranks, and narrowed once at the end.
#include "ranks/reduce.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <type_traits>

#include "ranks/small_float.h"
#include "tensor/half.h"

namespace millrace::ranks {
namespace {

// Each of these types states how elements are stored, and the type in which they are combined.
template <class T>
struct Plain {
  using Stored = T;
  using Value = T;
  static Value widen(Stored stored) noexcept { return stored; }
  static Stored narrow(Value value) noexcept { return value; }
};
struct Bf16 {
  using Stored = uint16_t;
  using Value = float;
  static Value widen(Stored stored) noexcept { return tensor::bf16_to_float(stored); }
  static Stored narrow(Value value) noexcept { return tensor::float_to_bf16(value); }
};
struct Fp16 {
  using Stored = uint16_t;
  using Value = float;
  static Value widen(Stored stored) noexcept { return tensor::fp16_to_float(stored); }
  static Stored narrow(Value value) noexcept { return tensor::float_to_fp16(value); }
};
template <int kExponent, int kFraction>
struct Fp8 : SmallFloat<kExponent, kFraction> {
  using Stored = uint8_t;
  using Value = float;
};

// Sums of integers wrap around. They are computed in unsigned types, since signed overflow is
// undefined.
struct Sum {
  template <class T>
  static T combine(T a, T b) noexcept {
    if constexpr (std::is_integral_v<T>) {
      using Unsigned = std::make_unsigned_t<T>;
      return static_cast<T>(static_cast<Unsigned>(a) + static_cast<Unsigned>(b));
    } else {
      return a + b;
    }
  }
};
struct Max {
  template <class T>
  static T combine(T a, T b) noexcept {
    return a > b || a != a ? a : b;
  }
};
struct Min {
  template <class T>
  static T combine(T a, T b) noexcept {
    return a < b || a != a ? a : b;
  }
};

// The number of elements that are combined at a time. Each level of the tree has an array of that
// many values on the stack.
constexpr size_t kBlock = 256;

template <class Type, class Rule>
struct Tree {
  using Stored = typename Type::Stored;
  using Value = typename Type::Value;

  // Reads an element from memory that need not be aligned.
  static Value element(const std::byte* operand, size_t index) noexcept {
    Stored stored;
    std::memcpy(&stored, operand + index * sizeof(Stored), sizeof(Stored));
    return Type::widen(stored);
  }

  // values[i] becomes the combination of element `first` + i of all operands. The left subtree has
  // the largest power of two of operands that leaves at least one for the right subtree.
  static void combine(std::span<const std::byte* const> operands, size_t first, size_t count,
                      Value* values) noexcept {
    if (operands.size() == 1) {
      for (size_t i = 0; i < count; ++i) values[i] = element(operands[0], first + i);
      return;
    }
    if (operands.size() == 2) {
      for (size_t i = 0; i < count; ++i)
        values[i] = Rule::combine(element(operands[0], first + i), element(operands[1], first + i));
      return;
    }
    const size_t left = std::bit_floor(operands.size() - 1);
    Value right[kBlock];
    combine(operands.first(left), first, count, values);
    combine(operands.subspan(left), first, count, right);
    for (size_t i = 0; i < count; ++i) values[i] = Rule::combine(values[i], right[i]);
  }

  static void run(std::span<const std::byte* const> operands, std::byte* output,
                  size_t count) noexcept {
    for (size_t first = 0; first < count; first += kBlock) {
      const size_t block = std::min(kBlock, count - first);
      Value values[kBlock];
      combine(operands, first, block, values);
      for (size_t i = 0; i < block; ++i) {
        const Stored stored = Type::narrow(values[i]);
        std::memcpy(output + (first + i) * sizeof(Stored), &stored, sizeof(Stored));
      }
    }
  }
};

template <class Type>
void reduce_as(std::span<const std::byte* const> operands, std::byte* output, size_t count,
               Reduction reduction) noexcept {
  switch (reduction) {
    case Reduction::kSum:
      return Tree<Type, Sum>::run(operands, output, count);
    case Reduction::kMax:
      return Tree<Type, Max>::run(operands, output, count);
    case Reduction::kMin:
      return Tree<Type, Min>::run(operands, output, count);
  }
}

}  // namespace

void reduce(std::span<const std::byte* const> operands, std::byte* output, size_t count,
            Element element, Reduction reduction) noexcept {
  switch (element) {
    case Element::kInt8:
      return reduce_as<Plain<int8_t>>(operands, output, count, reduction);
    case Element::kUint8:
      return reduce_as<Plain<uint8_t>>(operands, output, count, reduction);
    case Element::kInt16:
      return reduce_as<Plain<int16_t>>(operands, output, count, reduction);
    case Element::kUint16:
      return reduce_as<Plain<uint16_t>>(operands, output, count, reduction);
    case Element::kInt32:
      return reduce_as<Plain<int32_t>>(operands, output, count, reduction);
    case Element::kUint32:
      return reduce_as<Plain<uint32_t>>(operands, output, count, reduction);
    case Element::kInt64:
      return reduce_as<Plain<int64_t>>(operands, output, count, reduction);
    case Element::kUint64:
      return reduce_as<Plain<uint64_t>>(operands, output, count, reduction);
    case Element::kBf16:
      return reduce_as<Bf16>(operands, output, count, reduction);
    case Element::kFp16:
      return reduce_as<Fp16>(operands, output, count, reduction);
    case Element::kFloat32:
      return reduce_as<Plain<float>>(operands, output, count, reduction);
    case Element::kFloat64:
      return reduce_as<Plain<double>>(operands, output, count, reduction);
    case Element::kFp8E3M4:
      return reduce_as<Fp8<3, 4>>(operands, output, count, reduction);
    case Element::kFp8E4M3:
      return reduce_as<Fp8<4, 3>>(operands, output, count, reduction);
    case Element::kFp8E5M2:
      return reduce_as<Fp8<5, 2>>(operands, output, count, reduction);
  }
}

}  // namespace millrace::ranks
