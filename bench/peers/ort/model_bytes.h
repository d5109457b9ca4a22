// model_bytes(): prepares a model file for ONNX Runtime. Thread-safe.
#pragma once

#include <string>

#include "base/status.h"

namespace millrace::bench {

// Returns the content of an .onnx file that has its weights in the file. Initializers that older
// files also list as inputs are removed from the inputs: ONNX Runtime assumes that inputs may
// change from run to run, and does not fold them as constants. kIoError, kNotFound, kCorruptData.
Result<std::string> model_bytes(const std::string& path);

}  // namespace millrace::bench
