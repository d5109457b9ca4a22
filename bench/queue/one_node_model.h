// A minimal model, y = Relu(x) on FLOAT32 [1, 16], for Millrace and, as an ONNX file, for ONNX
// Runtime. It computes so little that the time of a run is the overhead of the runtime.
#pragma once

#include <cstdint>
#include <string>

#include "graph/compiled_model.h"

namespace millrace::bench {

inline constexpr uint32_t kOneNodeElements = 16;
inline constexpr const char* kOneNodeInput = "x";
inline constexpr const char* kOneNodeOutput = "y";

graph::CompiledModel one_node_model();
// Returns the content of the .onnx file.
std::string one_node_onnx();

}  // namespace millrace::bench
