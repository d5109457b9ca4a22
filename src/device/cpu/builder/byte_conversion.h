// Quantisation to and from bytes, by the vector kernels of tensor conversion where there are some.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "tensor/conversion/kernels.h"
#include "tensor/data_type.h"
#include "tensor/element.h"

namespace millrace::device::cpu {

// Converts between FLOAT32 and INT8 or UINT8, element by element. Allocates nothing; thread-safe.
class ByteConversion {
 public:
  // Requirement: conversion_of(bytes) has a value.
  explicit ByteConversion(tensor::DataType bytes);

  void quantise(const float* from, std::byte* to, size_t count,
                const tensor::ElementRule& rule) const;
  void dequantise(const std::byte* from, float* to, size_t count,
                  const tensor::ElementRule& rule) const;
  // Returns a byte as an integer.
  int32_t number(std::byte byte) const noexcept;

 private:
  bool is_signed_;
  tensor::ContiguousKernel quantise_, dequantise_;  // or null
};

// Returns the conversion to and from `type`, or nothing if that is neither INT8 nor UINT8.
std::optional<ByteConversion> conversion_of(tensor::DataType type);

}  // namespace millrace::device::cpu
