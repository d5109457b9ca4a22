// The "runner-options" of a JSON configuration:
//
//   {"input-tensor-type": "HW", "output-tensor-type": "HW",     HW or CPU; HW
//    "log-level": "INFO",
//    "start-column": 4, "cma-index": 0, "config-file": "f.json",  not passed on where missing
//    "aie-columns-sharing": true, "ai-analyzer-profiling": false}
#pragma once

#include <any>
#include <string>
#include <unordered_map>

#include "common/json_file.hpp"
#include "vart/vart_npu_tensor.hpp"

namespace samples {

struct RunnerOptions {
  std::unordered_map<std::string, std::any> values;  // what create_runner takes
  vart::TensorType input_type = vart::TensorType::HW;
  vart::TensorType output_type = vart::TensorType::HW;
};

// `log_level` is that of runners for which the configuration names none. Throws std::runtime_error,
// naming key and value, also for a config-file that does not exist.
RunnerOptions read_runner_options(const Json& json, const std::string& log_level);

}  // namespace samples
