// NumPy's .npy files, format versions 1.0 to 3.0: little-endian, C order. Thread-safe.
// Source of the format: the public NumPy enhancement proposal 1 and numpy.lib.format.
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
  std::vector<std::byte> bytes;  // dense, C order
};

// kCorruptData or kUnsupported (big-endian, Fortran order, structured or object types) with path
// and reason, besides the errors of read_file.
Result<Array> read_npy(const std::string& path);

}  // namespace millrace::io
