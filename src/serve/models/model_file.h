// Loads the file of a model through the native API: an archive, or an .onnx file, which is compiled
// in memory. Thread-safe.
#pragma once

#include <string>

#include "base/status.h"
#include "millrace/device.hpp"
#include "serve/options.h"

namespace millrace::serve {

// Returns the name under which the model of a file is served: that of the file or folder without
// .onnx or .rai.
std::string served_name(const std::string& path);

// Errors are those of the compiler and of Device::load(), with the path.
Result<Model> load_model_file(const std::string& path, const Options& options, Device& device);

}  // namespace millrace::serve
