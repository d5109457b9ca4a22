// How far computed elements lie from expected ones, by the measure of the ONNX backend tests.
//
// An element of a floating type is right when |ours - expected| <= absolute + relative *
// |expected|, and when it is next to the expected one: neighbours in bfloat16 may be further apart
// than that, and casts to it are rounded in either way. NaN is right where NaN is expected, and an
// infinity where the same is. Elements of integers and booleans must be equal.
//
// The distance of two numbers of a floating type in ULP is the count of steps from one to the next
// representable number that lead from the one to the other; it is infinite where just one of them
// is NaN or infinite. Functions of their arguments: thread-safe.
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

// The largest distance of any elements; the two may be those of different elements.
struct LargestError {
  std::optional<double> ulp;  // none where no elements of a floating type were compared
  double absolute = 0;

  void add(const LargestError& other);
};

struct WrongElement {
  size_t index = 0;
  std::string ours, expected;  // as text
};

struct ElementComparison {
  size_t wrong = 0;                   // how many elements
  std::optional<WrongElement> first;  // the first wrong element
  LargestError error;
};

// Compares dense elements of a type of the ONNX standard (TensorProto::DataType). Requirement: both
// spans have equally many bytes, a multiple of the element's. kUnsupported for types other than
// floats, integers and booleans.
Result<ElementComparison> compare_elements(int onnx_type, std::span<const std::byte> ours,
                                           std::span<const std::byte> expected,
                                           const Tolerance& tolerance = {});

}  // namespace millrace::cli
