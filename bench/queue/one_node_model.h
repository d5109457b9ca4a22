// The smallest model that computes something, y = Relu(x) on FLOAT32 [1, 16], so that the time of a
// run is the overhead of the runtime: for our devices, and as the ONNX file for ONNX Runtime.
#pragma once

#include <cstdint>
#include <string>

#include "graph/compiled_model.h"

namespace millrace::bench {

inline constexpr uint32_t kOneNodeElements = 16;
inline constexpr const char* kOneNodeInput = "x";
inline constexpr const char* kOneNodeOutput = "y";

graph::CompiledModel one_node_model();
// The content of the .onnx file.
std::string one_node_onnx();

}  // namespace millrace::bench
