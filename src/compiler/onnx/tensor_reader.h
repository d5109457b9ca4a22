// Reads ONNX tensors as constants of a graph. Thread-safe.
#pragma once

#include <onnx/onnx_pb.h>

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>

#include "base/status.h"
#include "graph/graph.h"

namespace millrace::compiler {

// Makes a constant of a TensorProto, in any of its storage forms: raw bytes, typed fields, external
// files (in `directory`, which they may not leave). Takes over raw bytes instead of copying them.
// Errors name the tensor.
Result<graph::Value> read_tensor(::onnx::TensorProto&& tensor,
                                 const std::filesystem::path& directory);

// A tensor as the file stores it: dense elements of the type in the file, without conversion.
struct ElementsInFile {
  int onnx_type = 0;  // TensorProto::DataType
  graph::Dims shape;
  std::span<const std::byte> bytes;
  std::shared_ptr<const void> keeper;  // owns the bytes
};

// Reads the elements of a tensor, in the same storage forms, of every type that a graph can hold.
// Errors do not name the tensor.
Result<ElementsInFile> read_elements(::onnx::TensorProto&& tensor,
                                     const std::filesystem::path& directory);

}  // namespace millrace::compiler
