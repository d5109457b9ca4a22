// `millrace shard`: divides a transformer for tensor parallelism into one ONNX model per rank.
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

// Writes NAME.rankR-of-N.onnx for every rank to the output folder, which it makes if it is missing,
// and prints what is divided. kUnsupported if nothing can be divided.
Status run_shard(const ShardArguments& arguments);

}  // namespace millrace::cli
