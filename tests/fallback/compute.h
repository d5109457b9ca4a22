// Computes fallback operators on small arrays.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "fallback/evaluate.h"

namespace millrace::fallback::test {

using Attributes = std::vector<graph::Attribute>;

struct Array {
  DataType type = DataType::kUnknown;  // of an operand that is absent
  Dims dims;
  std::vector<std::byte> bytes;

  template <class T>
  std::vector<T> as() const {
    std::vector<T> elements(bytes.size() / sizeof(T));
    std::memcpy(elements.data(), bytes.data(), bytes.size());
    return elements;
  }
  TensorView view() const { return {type, dims, bytes.data()}; }
};

template <class T>
constexpr DataType type_of() {
  if constexpr (std::is_same_v<T, float>) return DataType::kFloat32;
  if constexpr (std::is_same_v<T, double>) return DataType::kFloat64;
  if constexpr (std::is_same_v<T, int64_t>) return DataType::kInt64;
  if constexpr (std::is_same_v<T, int32_t>) return DataType::kInt32;
  if constexpr (std::is_same_v<T, int16_t>) return DataType::kInt16;
  if constexpr (std::is_same_v<T, int8_t>) return DataType::kInt8;
  if constexpr (std::is_same_v<T, uint8_t>) return DataType::kUint8;
  if constexpr (std::is_same_v<T, uint64_t>) return DataType::kUint64;
}

template <class T>
Array array(Dims dims, const std::vector<T>& elements, DataType type = type_of<T>()) {
  Array result{type, std::move(dims), std::vector<std::byte>(elements.size() * sizeof(T))};
  if (!elements.empty()) std::memcpy(result.bytes.data(), elements.data(), result.bytes.size());
  return result;
}
template <class T>
Array vector_of(const std::vector<T>& elements) {
  return array<T>({static_cast<int64_t>(elements.size())}, elements);
}
inline Array booleans(const std::vector<uint8_t>& elements) {
  return array<uint8_t>({static_cast<int64_t>(elements.size())}, elements, DataType::kBoolean);
}
inline Array absent() {
  return {};
}

// Asks for the outputs' shapes, then computes them. Attributes in ascending order of their names.
inline Result<std::vector<Array>> try_compute(const std::string& name,
                                              const std::vector<Array>& inputs,
                                              Attributes attributes = {}, size_t outputs = 1) {
  const graph::Fallback op{name, std::move(attributes)};
  std::vector<TensorView> views;
  for (const Array& input : inputs) views.push_back(input.view());
  MILLRACE_ASSIGN_OR_RETURN(const auto types, infer_outputs(op, views, outputs));
  std::vector<Array> results;
  for (const graph::ValueType& type : types) {
    results.push_back({type.type, type.shape, {}});
    results.back().bytes.resize(element_count(type.shape) * tensor::size_of(type.type));
  }
  std::vector<OutputView> targets;
  for (Array& result : results) targets.push_back({result.type, result.dims, result.bytes.data()});
  MILLRACE_RETURN_IF_ERROR(run(op, views, targets));
  return results;
}

inline std::vector<Array> compute_all(const std::string& name, const std::vector<Array>& inputs,
                                      Attributes attributes = {}, size_t outputs = 1) {
  auto results = try_compute(name, inputs, std::move(attributes), outputs);
  EXPECT_TRUE(results.ok()) << name << ": " << results.status().to_string();
  return results.ok() ? *std::move(results) : std::vector<Array>(outputs);
}

inline Array compute(const std::string& name, const std::vector<Array>& inputs,
                     Attributes attributes = {}) {
  return compute_all(name, inputs, std::move(attributes))[0];
}

// The status of a computation that must fail.
inline Status refusal(const std::string& name, const std::vector<Array>& inputs,
                      Attributes attributes = {}, size_t outputs = 1) {
  const auto results = try_compute(name, inputs, std::move(attributes), outputs);
  EXPECT_FALSE(results.ok()) << name;
  return results.status();
}

}  // namespace millrace::fallback::test
