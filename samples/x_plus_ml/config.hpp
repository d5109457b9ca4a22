// The JSON of --app-config:
//
//   {"xclbin-location": "x_plus_ml.xclbin", "device-index": 1,
//    "models-config": [{"config-path": "classifier.json"},
//                      {"inference-config": ..., "preprocess-config": ..., ...}]}
//
// An entry of models-config names a file with the object of one model, or is that object itself:
//
//   {"inference-config": {"model-file": "a.rai", "runner-options": {...}},
//    "preprocess-config": {"mean-r": 123.675, ...},
//    "postprocess-config": {"type": "SOFTMAX", ...},
//    "metaconvert-config": {...}}                      none: nothing is drawn for this model
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/json_file.hpp"
#include "common/runner_options.hpp"
#include "vart/vart_inferresult_types.hpp"
#include "vart/vart_postprocess_types.hpp"
#include "vart/vart_preprocess_types.hpp"

struct PreprocessConfig {
  vart::PreProcessInfo info{};              // without size, format and factor
  std::optional<vart::VideoFormat> format;  // none: what the tensor asks for
  std::optional<float> quantisation;        // none: what the tensor asks for
  samples::Json json;                       // what PreProcess itself reads
};

struct PostprocessConfig {
  vart::PostProcessType type = vart::PostProcessType::UNKNOWN;
  vart::InferResultType result = vart::InferResultType::ROOT;  // of the type
  std::vector<float> scales;                                   // per output; empty: the model's
  samples::Json json;                                          // what PostProcess itself reads
};

struct ModelConfig {
  std::string archive;
  samples::RunnerOptions runner;
  PreprocessConfig preprocess;
  PostprocessConfig postprocess;
  std::optional<std::string> metaconvert_json;
};

struct AppConfig {
  std::string xclbin;
  int32_t device_index = 1;
  std::vector<ModelConfig> models;  // at least one
};

// `log_level` is that of runners for which the configuration names none. Throws std::runtime_error
// that names the model, the key, and what is wrong.
AppConfig read_app_config(const std::string& path, const std::string& log_level);
