// Tensors that a model keeps in files beside it.
#pragma once

#include <onnx/onnx_pb.h>

#include <filesystem>
#include <memory>
#include <span>

#include "base/status.h"

namespace millrace::compiler {

struct ExternalData {
  std::span<const std::byte> bytes;
  std::shared_ptr<const void> owner;
};

// The `bytes` bytes that `tensor` refers to, from a file in `directory` or below it. A location
// that leads out of the directory (an absolute path, "..", a link) is refused with
// kInvalidArgument; a missing file is kNotFound, one that is too short kCorruptData.
Result<ExternalData> read_external_data(const ::onnx::TensorProto& tensor,
                                        const std::filesystem::path& directory, size_t bytes);

}  // namespace millrace::compiler
