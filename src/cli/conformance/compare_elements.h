// Compares computed elements with expected ones by the measure of the ONNX backend tests (that of
// numpy.testing.assert_allclose). Thread-safe.
//
// An element of a floating type is correct if |ours - expected| <= absolute + relative *
// |expected|, or if it is a neighbour of the expected one: neighbours in BFLOAT16 may be further
// apart than the tolerance, and implementations round casts to it in different ways. NaN is correct
// if NaN is expected, and an infinity if the same one is. Integers and booleans must be equal.
//
// The distance of two elements of a floating type in ULP is the number of steps from one
// representable value to the next that lead from one to the other. It is infinite if the elements
// differ and one of them is NaN or infinite.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include "base/status.h"

namespace millrace::cli {

// The default of the ONNX backend test runner.
struct Tolerance {
  double relative = 1e-3;
  double absolute = 1e-7;
};

// The largest distances in ULP and in absolute terms, which may be those of different elements.
struct LargestError {
  std::optional<double> ulp;  // empty if no elements of a floating type were compared
  double absolute = 0;

  void add(const LargestError& other);
};

struct WrongElement {
  size_t index = 0;
  std::string ours, expected;  // as text
};

struct ElementComparison {
  size_t wrong = 0;                   // number of wrong elements
  std::optional<WrongElement> first;  // the first wrong element
  LargestError error;
};

// Compares dense elements of a type of the ONNX standard (TensorProto::DataType). Requirement: both
// spans have the same number of bytes, a multiple of the element's size. kUnsupported for types
// other than floats, integers and booleans.
Result<ElementComparison> compare_elements(int onnx_type, std::span<const std::byte> ours,
                                           std::span<const std::byte> expected,
                                           const Tolerance& tolerance = {});

}  // namespace millrace::cli
