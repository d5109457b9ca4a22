// LoweringOptions: how finish() turns the graph of a lowering into a model: precision, batch size,
// layouts and quantisation of HW views, placement.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "graph/capabilities.h"
#include "graph/compiled_model.h"
#include "lowering/evaluate/folding_budget.h"
#include "lowering/placement/placement.h"
#include "tensor/layout.h"

namespace millrace::lowering {

class DerivedConstants;

// The layout that the caller chooses for an HW view.
struct HwLayout {
  tensor::Layout layout = tensor::Layout::kUnknown;
  // For kGeneric only: dimension i of the HW view is dimension order[i] of the CPU view. Empty: the
  // order of the CPU view.
  std::vector<uint32_t> order = {};
};

struct LoweringOptions {
  graph::Capabilities capabilities = {};  // those of the device that is to load the model
  uint32_t batch_size = 1;                // frames per call
  graph::Precision precision = graph::Precision::kFp32;
  std::map<std::string, HwLayout> hw_layouts = {};  // by name of the input or output
  // The quantisation in which HW views hold the inputs and outputs that the model quantises.
  graph::HwQuantisation hw_quantisation = graph::HwQuantisation::kModel;
  CpuOperators cpu_operators = {};    // all other operators go to the NPU
  OperatorNames full_precision = {};  // these nodes are computed in FP32
  // True for a stage, whose graph need not have a node for each name in cpu_operators. Otherwise a
  // name that matches no node is an error.
  bool is_stage = false;
  // Whether quantised operators are computed as the standard defines each. Requirement: the graph
  // was lowered with the same StageRequest::as_written.
  bool as_written = false;
  // Whether attention stays the MatMuls and the Softmax that it consists of: for callers that
  // choose a precision for each of these, or that divide them among ranks. Attention over a cache
  // whose lengths are known only at run time (millrace.CachedAttention) is one operator all the
  // same.
  bool attention_in_parts = false;
  // Called with the graph before the first pass ("import") and after each pass (its name), for
  // dumps and progress; may be empty.
  std::function<void(std::string_view stage, const graph::Graph& graph)> on_stage = {};
  // Limits constant folding by the passes: the budget that the stage has left (Stage::budget).
  FoldingBudget budget = FoldingBudget();
  // Where the stages of one model share the constants that passes derive; may be null.
  DerivedConstants* derived = nullptr;
};

}  // namespace millrace::lowering
