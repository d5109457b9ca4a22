// The settings of one model: those of the command line, which the file millrace.json in the folder
// of the model may replace. Thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/status.h"
#include "millrace/execution.hpp"
#include "serve/models/model_file.h"
#include "serve/options.h"

namespace millrace::serve {

struct ModelSettings {
  std::string precision = "fp32";  // of .onnx files
  uint32_t batch = 1;  // frames per job of .onnx files; rows, where the leading dimension is open
  double batch_delay_seconds = 0;
  uint32_t units = 0;  // 0: one for each lane of the device
  uint32_t queue_depth = 64;
  WhenFull when_full = WhenFull::kFail;
  double request_seconds = 0;  // deadline of requests that state none; 0: none
  std::string labels;          // a file with the names of classes; empty: none
  uint32_t warm_up = 0;        // jobs that each unit runs before the model serves
};

// The settings of a model. kInvalidArgument for a file that is wrong; the message names the key.
// kNotFound or kIoError if it cannot be read.
Result<ModelSettings> settings_of(const ModelFile& file, const Options& options);

// Reads the text of such a file: an object in JSON whose keys replace what is set. Unknown keys are
// errors. `folder` is that of the files that it names. kInvalidArgument as above.
Status read_settings(std::string_view text, const std::string& folder, ModelSettings& settings);

}  // namespace millrace::serve
