// The options of a compilation.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/input_shapes.h"
#include "device/cpu/capabilities/capabilities.h"
#include "graph/compiled_model.h"
#include "lowering/options.h"

namespace millrace::compiler {

using lowering::CpuOperators;
using lowering::HwLayout;
using lowering::OperatorNames;

// The largest batch size. Each frame of a job has its own buffers.
inline constexpr uint32_t kMostFrames = 4096;

struct CompileOptions {
  // Frames per job. The leading dimension of each input is that of one frame, 1, if the model
  // leaves it open (-1 or a symbol) or states 1. Frames of a model with open shapes may have
  // different shapes.
  uint32_t batch_size = 1;
  graph::Precision precision = graph::Precision::kFp32;
  std::map<std::string, HwLayout> hw_layouts = {};  // by name of the input or output
  // The form in which HW views hold quantised inputs and outputs. Programs for the board know only
  // the vendor's form.
  graph::HwQuantisation hw_quantisation = graph::HwQuantisation::kVendor;
  CpuOperators cpu_operators = {};    // operators or nodes to place on the CPU
  OperatorNames full_precision = {};  // operators or nodes that compute in FP32
  InputShapes input_shapes = {};      // full shapes of a frame, to fix open dimensions
  // Compiles a reference for quantised programs: operators on quantised values are not fused, but
  // computed one by one as the standard defines each, with every rounding of the model. For static
  // shapes only.
  bool as_written = false;
  // Keeps attention as matrix products and a softmax: see lowering::LoweringOptions.
  bool attention_in_parts = false;
  // States what the device that is to load the model can run.
  graph::Capabilities capabilities = device::cpu::capabilities();
  // Called once, if leading dimensions were assumed to count frames; may be empty.
  std::function<void(const std::vector<AssumedFrame>& frames)> on_assumed_frames = {};
  // Called once, if the model's opset of the standard is later than the operators that are known
  // (lowering::kMaxOpset), and they are assumed not to have changed; may be empty.
  std::function<void(int opset)> on_later_opset = {};
  // Called after the import ("import") and after each pass, for dumps and progress; may be empty.
  std::function<void(std::string_view stage, const graph::Graph& graph)> on_stage = {};
};

}  // namespace millrace::compiler
