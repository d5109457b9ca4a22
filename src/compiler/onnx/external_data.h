// Reads the data of tensors that a model keeps in files beside it. Paths come from the model and
// are not trusted.
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

// Returns the `bytes` bytes of data of `tensor`, from a file in `directory` or below it.
// kInvalidArgument: the location leads out of the directory (an absolute path, "..", a link).
// kNotFound: no such file. kCorruptData: the stated length differs from `bytes`, or the file is too
// short.
Result<ExternalData> read_external_data(const ::onnx::TensorProto& tensor,
                                        const std::filesystem::path& directory, size_t bytes);

}  // namespace millrace::compiler
