#include "serve/grpc/typed_contents.h"

#include <fmt/format.h>

#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#include "serve/protocol/tensor_type.h"

namespace millrace::serve {
namespace {

// X(type, its C++ type, the field for it)
#define MILLRACE_CONTENTS(X)            \
  X(kBoolean, uint8_t, bool_contents)   \
  X(kInt8, int8_t, int_contents)        \
  X(kInt16, int16_t, int_contents)      \
  X(kInt32, int32_t, int_contents)      \
  X(kInt64, int64_t, int64_contents)    \
  X(kUint8, uint8_t, uint_contents)     \
  X(kUint16, uint16_t, uint_contents)   \
  X(kUint32, uint32_t, uint_contents)   \
  X(kUint64, uint64_t, uint64_contents) \
  X(kFloat32, float, fp32_contents)     \
  X(kFloat64, double, fp64_contents)

size_t count_all(const inference::InferTensorContents& contents) {
  const int64_t all = int64_t{contents.bool_contents_size()} + contents.int_contents_size() +
                      contents.int64_contents_size() + contents.uint_contents_size() +
                      contents.uint64_contents_size() + contents.fp32_contents_size() +
                      contents.fp64_contents_size() + contents.bytes_contents_size();
  return static_cast<size_t>(all);
}

// Whether T has the value of an element in a field of a wider type.
template <class T, class Value>
bool has_value(Value value) {
  if constexpr (std::is_integral_v<Value> && !std::is_same_v<Value, bool>)
    return std::in_range<T>(value);
  else
    return true;
}

// Returns how many elements could be written.
template <class T, class Field>
size_t write_field(const Field& field, std::byte* to) {
  size_t written = 0;
  for (const auto value : field) {
    if (!has_value<T>(value)) return written;
    const T own = static_cast<T>(value);
    std::memcpy(to + written++ * sizeof(T), &own, sizeof(T));
  }
  return written;
}

template <class T, class Field>
void add_to_field(std::span<const std::byte> bytes, Field& field) {
  field.Reserve(static_cast<int>(bytes.size() / sizeof(T)));
  for (size_t at = 0; at + sizeof(T) <= bytes.size(); at += sizeof(T)) {
    T value;
    std::memcpy(&value, bytes.data() + at, sizeof(T));
    field.Add(value);
  }
}

}  // namespace

Result<size_t> count_elements(const inference::InferTensorContents& contents, DataType type) {
  size_t own = 0;
  switch (type) {
#define MILLRACE_CASE(enumerator, T, field)             \
  case DataType::enumerator:                            \
    own = static_cast<size_t>(contents.field##_size()); \
    break;
    MILLRACE_CONTENTS(MILLRACE_CASE)
#undef MILLRACE_CASE
    default:
      return invalid_argument(
          fmt::format("is {}, which is passed as raw bytes only", protocol_name(type)));
  }
  if (own != count_all(contents))
    return invalid_argument(
        fmt::format("is {}, and has contents of another type", protocol_name(type)));
  return own;
}

Status write_elements(const inference::InferTensorContents& contents, DataType type,
                      std::byte* to) {
  size_t written = 0, all = 0;
  switch (type) {
#define MILLRACE_CASE(enumerator, T, field)             \
  case DataType::enumerator:                            \
    written = write_field<T>(contents.field(), to);     \
    all = static_cast<size_t>(contents.field##_size()); \
    break;
    MILLRACE_CONTENTS(MILLRACE_CASE)
#undef MILLRACE_CASE
    default:
      break;
  }
  if (written == all) return {};
  return invalid_argument(
      fmt::format("has an element {} that is no {}", written, protocol_name(type)));
}

void add_elements(std::span<const std::byte> bytes, DataType type,
                  inference::InferTensorContents& contents) {
  switch (type) {
#define MILLRACE_CASE(enumerator, T, field)              \
  case DataType::enumerator:                             \
    add_to_field<T>(bytes, *contents.mutable_##field()); \
    break;
    MILLRACE_CONTENTS(MILLRACE_CASE)
#undef MILLRACE_CASE
    default:
      break;
  }
}

#undef MILLRACE_CONTENTS

}  // namespace millrace::serve
