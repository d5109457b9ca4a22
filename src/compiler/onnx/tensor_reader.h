// From the model file's tensors and types to the graph's.
#pragma once

#include <onnx/onnx_pb.h>

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>

#include "base/status.h"
#include "graph/graph.h"

namespace millrace::compiler {

// A constant out of a TensorProto, all storage forms: raw bytes, typed fields, external files
// (searched in `directory`, which they may not leave). Takes over the tensor's raw bytes instead of
// copying them. Errors name the tensor.
Result<graph::Value> read_tensor(::onnx::TensorProto&& tensor,
                                 const std::filesystem::path& directory);

// A tensor as the file stores it: dense elements of the file's own type, no widening.
struct ElementsInFile {
  int onnx_type = 0;  // TensorProto::DataType
  graph::Dims shape;
  std::span<const std::byte> bytes;
  std::shared_ptr<const void> keeper;  // owns the bytes
};

// The same storage forms as above, of every type that a graph can take in. Errors do not name the
// tensor.
Result<ElementsInFile> read_elements(::onnx::TensorProto&& tensor,
                                     const std::filesystem::path& directory);

}  // namespace millrace::compiler
