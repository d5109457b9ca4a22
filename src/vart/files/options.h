// The options of RunnerFactory::create_runner, read from its map of std::any payloads.
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

// The tensors of a language model from which its sizes follow. For an LlmRunner only.
struct LlmNames {
  std::string input_ids = "input_ids";
  std::string attention_mask = "attention_mask";
  std::string logits = "logits";

  bool operator==(const LlmNames&) const = default;
};

struct RunnerOptions {
  ::vart::TensorType input_type = ::vart::TensorType::HW;
  ::vart::TensorType output_type = ::vart::TensorType::HW;
  std::map<std::string, ::vart::TensorType> input_types, output_types;  // by tensor name
  uint32_t max_concurrent_runs = 2;
  uint32_t async_threadpool_depth = 10;      // lanes its jobs may hold at the same time
  std::optional<runtime::JobMode> job_mode;  // none: the mode of the environment
  CallbackOrder callback_order = CallbackOrder::kSubmission;
  uint32_t cma_index = 0;                // the memory bank of allocate_npu_tensor
  std::optional<uint32_t> start_column;  // none: not bound to a core
  bool aie_columns_sharing = true;
  bool skip_in_bo_sync = false;
  bool skip_out_bo_sync = false;
  bool strict_zero_copy = false;  // refuse tensors that need a conversion
  LogLevel log_level = std::max(LogLevel::kInfo, log_level_of_environment(LogLevel::kInfo));
  bool debug = false;
  bool log_level_given = false;
  bool ai_analyzer_profiling = false;
  std::string config_json;    // path of a file; empty: none
  std::string cache_path;     // path of a directory; empty: none
  std::string shape_profile;  // of an archive with open dimensions; empty: that of the environment
  std::string name = "VAIML-Runner";
  LlmNames llm;
  // Log lines about options that were ignored: warnings for those in the map; DEBUG for those in a
  // file, since other keys there are options of the compiler.
  std::vector<std::pair<LogLevel, std::string>> remarks;
};

// Reads the options of the map and of the file that its option config_json names; the map takes
// precedence. Unknown keys are ignored, with a remark. For a payload that is not valid for its
// option, throws std::runtime_error, which names the option and the valid values;
// std::invalid_argument for an invalid view of tensors. Also throws what read_config_file throws.
RunnerOptions read_options(const OptionMap& map);

}  // namespace millrace::vartml
