// Reads the tensors of a test case: files with one TensorProto each. Thread-safe.
#pragma once

#include <filesystem>

#include "base/status.h"
#include "compiler/onnx/tensor_reader.h"

namespace millrace::cli {

// Reads a file. kNotFound, kIoError; kCorruptData if it is truncated or is not a tensor;
// kUnsupported if the compiler does not support its type. Messages name the path.
Result<compiler::ElementsInFile> read_tensor_file(const std::filesystem::path& path);

}  // namespace millrace::cli
