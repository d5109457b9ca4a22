// Sample values that cover the limits of every type.
#pragma once

#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "tensor/data_type.h"

namespace millrace::tensor {

inline const std::vector<float>& special_floats() {
  using Limits = std::numeric_limits<float>;
  static const std::vector<float> values = {0.0f,
                                            -0.0f,
                                            0.5f,
                                            -0.5f,
                                            1.5f,
                                            2.5f,
                                            -2.5f,
                                            0.49999997f,
                                            -0.49999997f,
                                            127.5f,
                                            126.5f,
                                            -128.5f,
                                            -129.0f,
                                            255.5f,
                                            256.0f,
                                            65504.0f,
                                            65519.99f,
                                            65520.0f,
                                            -65536.0f,
                                            32767.5f,
                                            8388607.5f,
                                            8388609.0f,
                                            16777217.0f,
                                            2147483648.0f,
                                            -2147483904.0f,
                                            4294967296.0f,
                                            9.223372e18f,
                                            -9.3e18f,
                                            1.8446744e19f,
                                            1e30f,
                                            Limits::max(),
                                            Limits::lowest(),
                                            Limits::infinity(),
                                            -Limits::infinity(),
                                            Limits::quiet_NaN(),
                                            -Limits::quiet_NaN(),
                                            Limits::signaling_NaN(),
                                            Limits::denorm_min(),
                                            -Limits::denorm_min(),
                                            Limits::min(),
                                            5.9604645e-8f,
                                            2.9802322e-8f,
                                            2.980233e-8f,
                                            6.1035156e-5f,
                                            6.0975e-5f,
                                            3.3895e38f,
                                            0.03125f,
                                            0.046875f,
                                            0.015625f};
  return values;
}

template <class T>
std::vector<uint8_t> random_elements(size_t count, uint32_t seed) {
  static const T edges[] = {0,
                            1,
                            static_cast<T>(-1),
                            std::numeric_limits<T>::min(),
                            std::numeric_limits<T>::max(),
                            static_cast<T>(std::numeric_limits<T>::max() - 1)};
  std::mt19937_64 random(seed);
  std::vector<uint8_t> bytes(count * sizeof(T));
  for (size_t i = 0; i < count; ++i) {
    // Full range, a small range, and the edges.
    const uint64_t bits = random();
    T value = static_cast<T>(bits >> 8);
    if (bits % 3 == 1) value = static_cast<T>((bits >> 8) % 600);
    if (bits % 3 == 2) value = edges[(bits >> 8) % std::size(edges)];
    std::memcpy(&bytes[i * sizeof(T)], &value, sizeof(T));
  }
  return bytes;
}

inline std::vector<uint8_t> random_floats(size_t count, uint32_t seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal(0.0f, 40.0f);
  std::vector<uint8_t> bytes(count * sizeof(float));
  for (size_t i = 0; i < count; ++i) {
    const uint32_t bits = static_cast<uint32_t>(random());
    float value = normal(random);
    if (bits % 4 == 1) value = special_floats()[(bits >> 2) % special_floats().size()];
    if (bits % 16 == 2) std::memcpy(&value, &bits, sizeof(value));
    std::memcpy(&bytes[i * sizeof(float)], &value, sizeof(value));
  }
  return bytes;
}

// The numbers of random_floats(), some with more digits than a float has.
inline std::vector<uint8_t> random_doubles(size_t count, uint32_t seed) {
  std::mt19937_64 random(seed);
  const std::vector<uint8_t> floats = random_floats(count, seed);
  std::vector<uint8_t> bytes(count * sizeof(double));
  for (size_t i = 0; i < count; ++i) {
    float narrow;
    std::memcpy(&narrow, &floats[i * sizeof(float)], sizeof(narrow));
    double value = narrow;
    const uint64_t bits = random();
    if (bits % 4 == 1) value *= 1 + 0x1p-40;
    if (bits % 8 == 2) value *= 1e5;
    if (bits % 16 == 3) std::memcpy(&value, &bits, sizeof(value));
    std::memcpy(&bytes[i * sizeof(double)], &value, sizeof(value));
  }
  return bytes;
}

inline std::vector<uint8_t> random_tensor(DataType type, size_t count, uint32_t seed) {
  switch (type) {
    case DataType::kBoolean:
    case DataType::kUint8:
      return random_elements<uint8_t>(count, seed);
    case DataType::kInt8:
      return random_elements<int8_t>(count, seed);
    case DataType::kInt16:
      return random_elements<int16_t>(count, seed);
    case DataType::kInt32:
      return random_elements<int32_t>(count, seed);
    case DataType::kUint32:
      return random_elements<uint32_t>(count, seed);
    case DataType::kInt64:
      return random_elements<int64_t>(count, seed);
    case DataType::kUint64:
      return random_elements<uint64_t>(count, seed);
    case DataType::kFloat32:
      return random_floats(count, seed);
    case DataType::kFloat64:
      return random_doubles(count, seed);
    default:
      return random_elements<uint16_t>(count, seed);
  }
}

}  // namespace millrace::tensor
