// Reads NumPy's .npy files, format versions 1.0 to 3.0, with little-endian elements in C
// (row-major) order. The format is defined by NumPy Enhancement Proposal 1 and numpy.lib.format.
// Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "tensor/data_type.h"

namespace millrace::io {

struct Array {
  tensor::DataType type = tensor::DataType::kUnknown;
  std::vector<uint32_t> shape;
  std::vector<std::byte> bytes;  // dense, row-major
};

// Reads a file. kCorruptData for a malformed file, kUnsupported for big-endian elements, Fortran
// order, and structured or object types, with path and reason; also the errors of read_file().
Result<Array> read_npy(const std::string& path);

// Returns a file of format version 1.0. kUnsupported for a type that NumPy does not have, such as
// BF16. Requirement: the bytes are those of the shape.
Result<std::vector<std::byte>> npy_bytes(const Array& array);

}  // namespace millrace::io
