// The required result of a reduction, in plain scalar code: neighbours are combined first, then
// neighbours among the results.
#pragma once

#include <cmath>
#include <cstring>
#include <random>
#include <type_traits>
#include <vector>

#include "ranks/element.h"
#include "tensor/half.h"

namespace millrace::ranks {

// The storage of a type, and the type in which it is combined.
template <class T>
struct Codec {
  using Stored = T;
  using Value = T;
  static Value widen(Stored stored) { return stored; }
  static Stored narrow(Value value) { return value; }
};
struct Bf16Codec {
  using Stored = uint16_t;
  using Value = float;
  static Value widen(Stored stored) { return tensor::bf16_to_float(stored); }
  static Stored narrow(Value value) { return tensor::float_to_bf16(value); }
};
struct Fp16Codec {
  using Stored = uint16_t;
  using Value = float;
  static Value widen(Stored stored) { return tensor::fp16_to_float(stored); }
  static Stored narrow(Value value) { return tensor::float_to_fp16(value); }
};

template <class Value>
Value combine(Value a, Value b, Reduction reduction) {
  if (reduction == Reduction::kSum) {
    if constexpr (std::is_integral_v<Value>)
      return static_cast<Value>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
    else
      return a + b;
  }
  if constexpr (std::is_floating_point_v<Value>) {
    if (std::isnan(a)) return a;
    if (std::isnan(b)) return b;
  }
  const bool first = reduction == Reduction::kMax ? a > b : a < b;
  return first ? a : b;
}

template <class Codec>
typename Codec::Stored expected_element(std::vector<typename Codec::Value> values,
                                        Reduction reduction) {
  while (values.size() > 1) {
    std::vector<typename Codec::Value> next;
    for (size_t i = 0; i + 1 < values.size(); i += 2)
      next.push_back(combine(values[i], values[i + 1], reduction));
    if (values.size() % 2 == 1) next.push_back(values.back());
    values = std::move(next);
  }
  return Codec::narrow(values[0]);
}

// Negative numbers wrap around in unsigned types, which conversions from floating point do not.
template <class Value>
Value value_of(double number) {
  if constexpr (std::is_integral_v<Value>)
    return static_cast<Value>(static_cast<int64_t>(number));
  else
    return static_cast<Value>(number);
}

// Operands by rank: `count` elements from -100 to 100, which round differently in different orders.
template <class Codec>
std::vector<std::vector<typename Codec::Stored>> patterns(uint32_t ranks, size_t count,
                                                          uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<std::vector<typename Codec::Stored>> operands(ranks);
  for (auto& operand : operands)
    for (size_t i = 0; i < count; ++i)
      operand.push_back(Codec::narrow(value_of<typename Codec::Value>(
          std::uniform_real_distribution<double>(-100, 100)(random))));
  return operands;
}

template <class Codec>
std::vector<typename Codec::Stored> expected_reduction(
    const std::vector<std::vector<typename Codec::Stored>>& operands, Reduction reduction) {
  std::vector<typename Codec::Stored> result;
  for (size_t i = 0; i < operands[0].size(); ++i) {
    std::vector<typename Codec::Value> values;
    for (const auto& operand : operands) values.push_back(Codec::widen(operand[i]));
    result.push_back(expected_element<Codec>(std::move(values), reduction));
  }
  return result;
}

}  // namespace millrace::ranks
