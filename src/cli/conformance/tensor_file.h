// The tensors of a test case: files that hold one TensorProto each.
#pragma once

#include <filesystem>

#include "base/status.h"
#include "compiler/onnx/tensor_reader.h"

namespace millrace::cli {

// kNotFound, kIoError; kCorruptData for a file that is cut off or is no tensor, with its path;
// kUnsupported for types that the compiler does not take in.
Result<compiler::ElementsInFile> read_tensor_file(const std::filesystem::path& path);

}  // namespace millrace::cli
