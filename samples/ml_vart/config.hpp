// The JSON of --app-config:
//
//   {"inference-config": {"model-file": "a.rai",
//                         "runner-options": {"input-tensor-type": "HW", "start-column": 4, ...}},
//    "ifms-config": [{"name": "data", "file": "data.bin"}],
//    "ofms-dir": "output"}
#pragma once

#include <map>
#include <string>

#include "common/runner_options.hpp"

struct Config {
  std::string model_file;
  samples::RunnerOptions runner;
  std::map<std::string, std::string> ifm_files;  // by tensor name
  std::string ofms_dir = "output";
};

// Throws std::runtime_error that says what is wrong.
Config read_config(const std::string& path);
