// The JSON of --app-config:
//
//   {"inference-config": {"model-file": "a.rai",
//                         "runner-options": {"input-tensor-type": "HW", "start-column": 4, ...}},
//    "ifms-config": [{"name": "data", "file": "data.bin"}],
//    "ofms-dir": "output"}
#pragma once

#include <any>
#include <map>
#include <string>
#include <unordered_map>

#include "vart/vart_runner_factory.hpp"

struct Config {
  std::string model_file;
  std::unordered_map<std::string, std::any> runner_options;
  vart::TensorType input_type = vart::TensorType::HW;
  vart::TensorType output_type = vart::TensorType::HW;
  std::map<std::string, std::string> ifm_files;  // by tensor name
  std::string ofms_dir = "output";
};

// Throws std::runtime_error that says what is wrong.
Config read_config(const std::string& path);
