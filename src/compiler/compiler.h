// The compiler: an ONNX file in, a CompiledModel out. Beside the stack: only the command line
// program and tests link it, nothing at run time knows ONNX or protobuf.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "compiler/placement.h"
#include "graph/compiled_model.h"
#include "tensor/layout.h"

namespace millrace::compiler {

// A layout that is chosen for an HW view.
struct HwLayout {
  tensor::Layout layout = tensor::Layout::kUnknown;
  // Of kGeneric: position i holds dimension order[i] of the CPU view; empty is their own order.
  std::vector<uint32_t> order = {};
};

// The largest batch that programs may ask for; each frame of a job has buffers of its own.
inline constexpr uint32_t kMostFrames = 4096;

struct CompileOptions {
  // Frames per call. Every input's leading dimension is the frame's own, 1, where the model leaves
  // it open (-1 or a name) or says 1.
  uint32_t batch_size = 1;
  graph::Precision precision = graph::Precision::kFp32;
  std::map<std::string, HwLayout> hw_layouts = {};  // by boundary tensor name
  CpuOperators cpu_operators = {};                  // the others go to the NPU
  // Fixes open dimensions: input name -> full shape of a frame.
  std::map<std::string, graph::Dims> input_shapes = {};
  // Called after import ("import") and after each pass, for dumps and progress; may be empty.
  std::function<void(std::string_view stage, const graph::Graph& graph)> on_stage = {};
};

// kNotFound, kIoError, kCorruptData (not an ONNX protobuf), kInvalidArgument (bad options or an
// inconsistent model, naming node and reason), kUnsupported (one message that names every
// type, domain and opset that is not covered, with its first nodes; see import_onnx_file()).
// What compiles loads: every node has a kernel (graph/capability.h).
Result<graph::CompiledModel> compile(const std::string& onnx_path, const CompileOptions& options);

}  // namespace millrace::compiler
