// A model file as ONNX Runtime is to have it. Thread-safe.
#pragma once

#include <string>

#include "base/status.h"

namespace millrace::bench {

// The content of an .onnx file without weights in other files. Constants that older files also list
// as inputs are no inputs here: ONNX Runtime takes such for values that may change from run to run
// and folds nothing into them. kIoError, kNotFound, kCorruptData.
Result<std::string> model_bytes(const std::string& path);

}  // namespace millrace::bench
