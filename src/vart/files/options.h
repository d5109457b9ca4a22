// The options of create_runner, read from the map of payloads.
#pragma once

#include <algorithm>
#include <any>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/log.h"
#include "millrace/execution.hpp"
#include "runtime/jobs/job_mode.h"
#include "vart/vart_npu_tensor.hpp"

namespace millrace::vartml {

using OptionMap = std::unordered_map<std::string, std::any>;

struct RunnerOptions {
  ::vart::TensorType input_type = ::vart::TensorType::HW;
  ::vart::TensorType output_type = ::vart::TensorType::HW;
  std::map<std::string, ::vart::TensorType> input_types, output_types;  // by tensor name
  uint32_t max_concurrent_runs = 2;
  uint32_t async_threadpool_depth = 10;      // lanes its jobs may hold at the same time
  std::optional<runtime::JobMode> job_mode;  // none: as the environment says
  CallbackOrder callback_order = CallbackOrder::kSubmission;
  uint32_t cma_index = 0;                // the memory bank of allocate_npu_tensor
  std::optional<uint32_t> start_column;  // binds to a core; none: placed freely
  bool aie_columns_sharing = true;
  bool skip_in_bo_sync = false;
  bool skip_out_bo_sync = false;
  bool strict_zero_copy = false;  // as the environment says where the map does not
  LogLevel log_level = std::max(LogLevel::kInfo, log_level_of_environment(LogLevel::kInfo));
  bool debug = false;
  bool log_level_given = false;
  bool ai_analyzer_profiling = false;
  std::string config_json;  // a path; empty: none
  std::string cache_path;   // a directory; empty: none
  std::string name = "VAIML-Runner";
  // Lines for the log, about what was ignored: warnings where it stands in the map, and at DEBUG in
  // a file, which belongs to a compiler.
  std::vector<std::pair<LogLevel, std::string>> remarks;
};

// The options of the map and, where it names a file with config_json, of that file; the
// map takes precedence. Other keys are ignored, with a remark. Throws std::runtime_error, naming
// the option and what it takes, for a payload of a type or value that a known option cannot have;
// std::invalid_argument where that is text for a view; and what read_config_file throws.
RunnerOptions read_options(const OptionMap& map);

}  // namespace millrace::vartml
