// `millrace shard`: one model becomes several, which as many ranks run together.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/status.h"

namespace millrace::cli {

struct ShardArguments {
  std::string onnx;
  uint32_t ranks = 0;
  std::string output_dir = ".";
  std::vector<std::string> input_shapes;  // NAME=1,3,224,224
};

// Writes NAME.rankR-of-N.onnx for every rank into the folder, which is made if there is none, and
// prints what is divided. kUnsupported where nothing can be.
Status run_shard(const ShardArguments& arguments);

}  // namespace millrace::cli
