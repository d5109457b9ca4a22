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
#include "graph/archive/codec.h"
#include "graph/compiled_model.h"

namespace millrace::compiler {

struct VendorConfig {
  std::optional<uint32_t> batch_size;         // dp_size: frames per job
  std::optional<uint32_t> tensor_parallel;    // tp_size: compute units that share the work of one
  std::optional<graph::Precision> precision;  // enable_f32_to_bf16_conversion
  std::set<std::string> ignored;              // keys that have no meaning here

  // The columns that the model occupies on the board: four for each compute unit.
  uint32_t columns() const noexcept {
    return batch_size.value_or(1) * tensor_parallel.value_or(1) * graph::kColumnsOfAUnit;
  }
};

// Reads the objects "vaiml_config" of all passes, or one at the top level. kNotFound, kIoError.
// kInvalidArgument: the file is not JSON, has no such object, has a value that its key does not
// allow, different values for one key, or more columns than a model can occupy; the message names
// the file and the reason.
Result<VendorConfig> read_vendor_config(const std::string& path);

}  // namespace millrace::compiler
