// The options that a caller chooses for a compilation.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/input_shapes.h"
#include "graph/compiled_model.h"
#include "lowering/options.h"

namespace millrace::compiler {

using lowering::CpuOperators;
using lowering::HwLayout;
using lowering::OperatorNames;

// The largest batch that programs may ask for; each frame of a job has buffers of its own.
inline constexpr uint32_t kMostFrames = 4096;

struct CompileOptions {
  // Frames per call. Every input's leading dimension is the frame's own, 1, where the model leaves
  // it open (-1 or a name) or says 1. Frames of a model with open shapes have shapes of their own.
  uint32_t batch_size = 1;
  graph::Precision precision = graph::Precision::kFp32;
  std::map<std::string, HwLayout> hw_layouts = {};  // by boundary tensor name
  // The form in which HW views hold quantised inputs and outputs: programs for the board know only
  // the vendor's form.
  graph::HwQuantisation hw_quantisation = graph::HwQuantisation::kVendor;
  CpuOperators cpu_operators = {};    // all other operators go to the NPU
  OperatorNames full_precision = {};  // these nodes are computed in FP32, named likewise
  InputShapes input_shapes = {};      // fixes open dimensions: full shapes of a frame
  // Quantised operators are computed one by one, as the standard defines each, and what is rounded
  // in the model is rounded: the reference for what programs on quantised values compute. Of models
  // with static shapes.
  bool as_written = false;
  // Attention stays products and a softmax: see lowering::LoweringOptions.
  bool attention_in_parts = false;
  // Called once with what was assumed of the model's inputs, if anything was; may be empty.
  std::function<void(const std::vector<AssumedFrame>& frames)> on_assumed_frames = {};
  // Called after import ("import") and after each pass, for dumps and progress; may be empty.
  std::function<void(std::string_view stage, const graph::Graph& graph)> on_stage = {};
};

}  // namespace millrace::compiler
