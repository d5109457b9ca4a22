#include "tests/tensor/reference.h"

#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <stdexcept>
#include <string>

namespace millrace::tensor::reference {
namespace {

template <class T>
T read(const uint8_t* source) {
  T value;
  std::memcpy(&value, source, sizeof(value));
  return value;
}

template <class T>
void write(uint8_t* target, T value) {
  std::memcpy(target, &value, sizeof(value));
}

uint32_t bits_of(float value) {
  return read<uint32_t>(reinterpret_cast<const uint8_t*>(&value));
}

float float_of(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

// Searches the non-negative codes 0 to `infinity`, whose values ascend, for the one that represents
// `magnitude`; `infinity` counts as `beyond`, the value that would follow the largest finite one.
uint16_t search(double magnitude, uint16_t infinity, double beyond, bool toward_zero,
                const std::function<double(uint16_t)>& decode) {
  const auto value_of = [&](uint16_t code) { return code == infinity ? beyond : decode(code); };
  if (magnitude >= beyond) return toward_zero && std::isfinite(magnitude) ? infinity - 1 : infinity;
  uint16_t low = 0, high = infinity;  // value_of(low) <= magnitude < value_of(high)
  while (high - low > 1) {
    const auto middle = static_cast<uint16_t>((low + high) / 2);
    (value_of(middle) <= magnitude ? low : high) = middle;
  }
  if (toward_zero) return low;
  const double below = magnitude - value_of(low), above = value_of(high) - magnitude;
  if (below != above) return below < above ? low : high;
  return low % 2 == 0 ? low : high;
}

double decode_fp16(uint16_t code) {
  const int exponent = code >> 10, fraction = code & 1023;
  return exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
}

struct Number {
  bool is_float = false;
  float as_float = 0;
  long double as_integer = 0;
  bool is_double = false;  // and then as_double holds the value
  double as_double = 0;

  double real() const { return is_double ? as_double : as_float; }
};

template <class T>
Number integer(T value) {
  return {false, 0, static_cast<long double>(value)};
}

Number load(DataType type, const uint8_t* source) {
  switch (type) {
    case DataType::kBoolean:
      return integer(read<uint8_t>(source) != 0);
    case DataType::kInt8:
      return integer(read<int8_t>(source));
    case DataType::kUint8:
      return integer(read<uint8_t>(source));
    case DataType::kInt16:
      return integer(read<int16_t>(source));
    case DataType::kUint16:
      return integer(read<uint16_t>(source));
    case DataType::kInt32:
      return integer(read<int32_t>(source));
    case DataType::kUint32:
      return integer(read<uint32_t>(source));
    case DataType::kInt64:
      return integer(read<int64_t>(source));
    case DataType::kUint64:
      return integer(read<uint64_t>(source));
    case DataType::kBf16:
      return {true, from_bf16(read<uint16_t>(source)), 0};
    case DataType::kFp16:
      return {true, from_fp16(read<uint16_t>(source)), 0};
    case DataType::kFloat32:
      return {true, read<float>(source), 0};
    case DataType::kFloat64:
      return {true, 0, 0, true, read<double>(source)};
    default:
      throw std::logic_error("no type");
  }
}

float to_float(double value, bool toward_zero) {
  const auto nearest = static_cast<float>(value);
  const bool away = std::fabs(nearest) > std::fabs(value);
  return toward_zero && away ? std::nextafter(nearest, 0.0f) : nearest;
}

void store_float(DataType type, double value, bool toward_zero, uint8_t* target) {
  if (type == DataType::kFloat64) return write(target, value);
  if (type == DataType::kFloat32) return write(target, to_float(value, toward_zero));
  write(target,
        type == DataType::kBf16 ? to_bf16(value, toward_zero) : to_fp16(value, toward_zero));
}

template <class T>
void store_clamped(long double value, uint8_t* target) {
  using Limits = std::numeric_limits<T>;
  if (value <= static_cast<long double>(Limits::min())) return write(target, Limits::min());
  if (value >= static_cast<long double>(Limits::max())) return write(target, Limits::max());
  write(target, static_cast<T>(value));
}

void store_integer(DataType type, long double value, uint8_t* target) {
  switch (type) {
    case DataType::kInt8:
      return store_clamped<int8_t>(value, target);
    case DataType::kUint8:
      return store_clamped<uint8_t>(value, target);
    case DataType::kInt16:
      return store_clamped<int16_t>(value, target);
    case DataType::kUint16:
      return store_clamped<uint16_t>(value, target);
    case DataType::kInt32:
      return store_clamped<int32_t>(value, target);
    case DataType::kUint32:
      return store_clamped<uint32_t>(value, target);
    case DataType::kInt64:
      return store_clamped<int64_t>(value, target);
    case DataType::kUint64:
      return store_clamped<uint64_t>(value, target);
    default:
      throw std::logic_error("no integer type");
  }
}

bool floating(DataType type) {
  return type == DataType::kFloat32 || type == DataType::kBf16 || type == DataType::kFp16 ||
         type == DataType::kFloat64;
}

size_t width(DataType type) {
  switch (type) {
    case DataType::kBoolean:
    case DataType::kInt8:
    case DataType::kUint8:
      return 1;
    case DataType::kInt64:
    case DataType::kUint64:
    case DataType::kFloat64:
      return 8;
    case DataType::kInt32:
    case DataType::kUint32:
    case DataType::kFloat32:
      return 4;
    default:
      return 2;
  }
}

// Calls visit(linear CPU index, coordinates) for every element of a dense C-order tensor.
template <class Visit>
void for_each_element(const std::vector<size_t>& dims, const Visit& visit) {
  size_t count = 1;
  for (const size_t extent : dims) count *= extent;
  std::vector<size_t> coordinates(dims.size());
  for (size_t index = 0; index < count; ++index) {
    size_t rest = index;
    for (size_t i = dims.size(); i-- > 0; rest /= dims[i]) coordinates[i] = rest % dims[i];
    visit(index, coordinates);
  }
}

size_t block_of(Layout layout) {
  if (layout == Layout::kHcwnc4) return 4;
  if (layout == Layout::kHcwnc8) return 8;
  return layout == Layout::kHcwnc16 ? 16 : 0;
}

// The dimension that a letter of a plain layout's name stands for.
size_t dimension_of(char letter, size_t rank) {
  if (letter == 'N') return 0;
  if (rank == 4) return letter == 'C' ? 1 : letter == 'H' ? 2 : 3;
  return letter == 'C' ? 1 : 2;
}

std::vector<size_t> order_of(const TensorDesc& view, size_t rank) {
  if (view.layout == Layout::kGeneric) return {view.order.begin(), view.order.end()};
  if (view.layout == Layout::kNhw) return {0, 1, 2};
  std::vector<size_t> order;
  for (const char letter : std::string(to_string(view.layout)))
    order.push_back(dimension_of(letter, rank));
  return order;
}

size_t blocked_size(const std::vector<size_t>& dims, size_t block) {
  return dims[2] * ((dims[1] + block - 1) / block) * dims[3] * dims[0] * block;
}

}  // namespace

uint16_t to_bf16(double value, bool toward_zero) {
  const auto sign = static_cast<uint16_t>(std::signbit(value) ? 0x8000 : 0);
  if (std::isnan(value))
    return static_cast<uint16_t>((bits_of(static_cast<float>(value)) >> 16) | 0x40);
  const auto decode = [](uint16_t code) { return static_cast<double>(from_bf16(code)); };
  return sign | search(std::fabs(value), 0x7f80, std::ldexp(1.0, 128), toward_zero, decode);
}

uint16_t to_fp16(double value, bool toward_zero) {
  const auto sign = static_cast<uint16_t>(std::signbit(value) ? 0x8000 : 0);
  if (std::isnan(value))
    return static_cast<uint16_t>(sign | 0x7e00 |
                                 ((bits_of(static_cast<float>(value)) & 0x7fffff) / 8192));
  return sign | search(std::fabs(value), 0x7c00, 65536.0, toward_zero, decode_fp16);
}

float from_bf16(uint16_t bits) {
  return float_of(uint32_t{bits} * 65536);
}

float from_fp16(uint16_t bits) {
  const uint32_t sign = bits >= 0x8000 ? 0x80000000u : 0;
  const auto magnitude = static_cast<uint16_t>(bits & 0x7fff);
  if (magnitude > 0x7c00) return float_of(sign | 0x7fc00000u | ((magnitude & 1023u) * 8192));
  if (magnitude == 0x7c00) return float_of(sign | 0x7f800000u);
  const auto value = static_cast<float>(decode_fp16(magnitude));
  return sign != 0 ? -value : value;
}

void convert_element(DataType from, const uint8_t* source, DataType to, uint8_t* target,
                     const QuantParams& quant) {
  if (from == to) {
    std::memcpy(target, source, width(from));
    return;
  }
  const Number number = load(from, source);
  const bool toward_zero = quant.rounding == Rounding::kTowardZero;
  const auto scale = static_cast<float>(quant.scale);
  if (to == DataType::kBoolean) {
    const bool zero = number.is_float ? number.real() == 0 : number.as_integer == 0;
    return write(target, static_cast<uint8_t>(zero ? 0 : 1));
  }
  if (floating(to)) {
    // A float is copied by itself: a signalling NaN stays one.
    if (number.is_float && !number.is_double && to == DataType::kFloat32)
      return write(target, number.as_float);
    double value = number.real();
    const long double distance = number.as_integer - quant.zero_point;
    if (from == DataType::kBoolean)
      value = static_cast<double>(number.as_integer);
    else if (!number.is_float && to == DataType::kFloat64)
      value = static_cast<double>(distance) * scale;
    else if (!number.is_float)
      value = static_cast<float>(distance) * scale;
    return store_float(to, value, toward_zero, target);
  }
  if (!number.is_float) return store_integer(to, number.as_integer, target);
  if (std::isnan(number.real())) return store_integer(to, 0, target);
  const double ratio = number.is_double ? number.as_double / scale : number.as_float / scale;
  const long double rounded = toward_zero ? std::trunc(ratio) : std::nearbyint(ratio);
  store_integer(to, rounded + quant.zero_point, target);
}

size_t hw_index(const TensorDesc& hw, const std::vector<size_t>& dims,
                const std::vector<size_t>& coordinates) {
  if (const size_t block = block_of(hw.layout); block != 0) {
    const size_t n = coordinates[0], c = coordinates[1], h = coordinates[2], w = coordinates[3];
    const size_t blocks = (dims[1] + block - 1) / block;
    return (((h * blocks + c / block) * dims[3] + w) * dims[0] + n) * block + c % block;
  }
  size_t index = 0;
  for (const size_t dimension : order_of(hw, dims.size()))
    index = index * dims[dimension] + coordinates[dimension];
  return index;
}

Bytes to_hw(const TensorDesc& cpu, const TensorDesc& hw, const QuantParams& quant,
            const Bytes& values) {
  const std::vector<size_t> dims(cpu.shape.begin(), cpu.shape.end());
  size_t count = 1;
  for (const size_t extent : dims) count *= extent;
  if (const size_t block = block_of(hw.layout); block != 0) count = blocked_size(dims, block);
  const size_t from = width(cpu.type), to = width(hw.type);
  Bytes result(count * to);
  const Bytes zero(8, 0);  // what padding lanes hold before the conversion of their type
  for (size_t i = 0; i < count; ++i)
    convert_element(cpu.type, zero.data(), hw.type, &result[i * to], quant);
  for_each_element(dims, [&](size_t index, const std::vector<size_t>& coordinates) {
    convert_element(cpu.type, &values[index * from], hw.type,
                    &result[hw_index(hw, dims, coordinates) * to], quant);
  });
  return result;
}

Bytes to_cpu(const TensorDesc& cpu, const TensorDesc& hw, const QuantParams& quant,
             const Bytes& values) {
  const std::vector<size_t> dims(cpu.shape.begin(), cpu.shape.end());
  size_t count = 1;
  for (const size_t extent : dims) count *= extent;
  const size_t from = width(hw.type), to = width(cpu.type);
  Bytes result(count * to);
  for_each_element(dims, [&](size_t index, const std::vector<size_t>& coordinates) {
    convert_element(hw.type, &values[hw_index(hw, dims, coordinates) * from], cpu.type,
                    &result[index * to], quant);
  });
  return result;
}

}  // namespace millrace::tensor::reference
