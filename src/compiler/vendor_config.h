// VendorConfig: reads the JSON file that configures the board's compiler, as far as its settings
// apply to Millrace's compiler.
//
//   {"passes": [{"name": "vaiml_partition", "vaiml_config": {"device": "...", "dp_size": 2}}]}
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>

#include "base/status.h"
#include "graph/compiled_model.h"

namespace millrace::compiler {

struct VendorConfig {
  std::optional<uint32_t> batch_size;         // dp_size: frames per job
  std::optional<graph::Precision> precision;  // enable_f32_to_bf16_conversion
  std::set<std::string> ignored;              // keys that have no meaning here
};

// Reads the objects "vaiml_config" of all passes, or one at the top level. kNotFound, kIoError.
// kInvalidArgument: the file is not JSON, has no such object, has a value that its key does not
// allow, or different values for one key; the message names the file and the reason.
Result<VendorConfig> read_vendor_config(const std::string& path);

}  // namespace millrace::compiler
