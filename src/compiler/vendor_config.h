// VendorConfig: the JSON file with which the board's compiler is configured, as far as it means
// something to this one.
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
  std::optional<uint32_t> batch_size;         // dp_size: frames that one call takes
  std::optional<graph::Precision> precision;  // enable_f32_to_bf16_conversion
  std::set<std::string> ignored;              // the other keys
};

// Reads the objects "vaiml_config" of all passes, or one at the top. kNotFound, kIoError;
// kInvalidArgument, naming the file and what is wrong, when it is no JSON, has no such object, or
// has a value there that its key cannot have, or two different ones.
Result<VendorConfig> read_vendor_config(const std::string& path);

}  // namespace millrace::compiler
