// The options of create_runner, read from the map of payloads.
#pragma once

#include <any>
#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>

#include "runtime/session.h"
#include "vart/vart_npu_tensor.hpp"

namespace millrace::vartml {

using OptionMap = std::unordered_map<std::string, std::any>;

struct RunnerOptions {
  ::vart::TensorType input_type = ::vart::TensorType::HW;
  ::vart::TensorType output_type = ::vart::TensorType::HW;
  std::map<std::string, ::vart::TensorType> input_types, output_types;  // by tensor name
  uint32_t max_concurrent_runs = 2;
  runtime::CallbackOrder callback_order = runtime::CallbackOrder::kSubmission;
};

// Throws std::invalid_argument, naming the option and what it takes, for a payload of a type or
// value that a known option cannot have. Other keys are ignored, with a line in the debug log.
RunnerOptions read_options(const OptionMap& map);

}  // namespace millrace::vartml
