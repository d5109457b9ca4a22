// The options that a caller chooses for the models that a lowering makes.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "graph/compiled_model.h"
#include "lowering/evaluate/folding_budget.h"
#include "lowering/placement/placement.h"
#include "tensor/layout.h"

namespace millrace::lowering {

// A layout that is chosen for an HW view.
struct HwLayout {
  tensor::Layout layout = tensor::Layout::kUnknown;
  // For kGeneric: position i holds dimension order[i] of the CPU view; empty is their own order.
  std::vector<uint32_t> order = {};
};

struct LoweringOptions {
  uint32_t batch_size = 1;  // frames per call
  graph::Precision precision = graph::Precision::kFp32;
  std::map<std::string, HwLayout> hw_layouts = {};  // by boundary tensor name
  // The form in which HW views hold the inputs and outputs that the model quantises.
  graph::HwQuantisation hw_quantisation = graph::HwQuantisation::kModel;
  CpuOperators cpu_operators = {};    // all other operators go to the NPU
  OperatorNames full_precision = {};  // these nodes are computed in FP32
  // True for a stage, whose graph need not have an operator for each name in cpu_operators.
  // Otherwise one that matches none is an error.
  bool is_stage = false;
  // Quantised operators as they are written: see StageRequest::as_written, with which the graph was
  // made.
  bool as_written = false;
  // Attention stays the products and the softmax that it consists of, for who chooses a precision
  // for each of them, or divides them among ranks.
  bool attention_in_parts = false;
  // Called with the graph as it comes ("import") and after each pass, for dumps and progress; may
  // be empty.
  std::function<void(std::string_view stage, const graph::Graph& graph)> on_stage = {};
  // The passes may compute this much from constants: it is what the stage has left (Stage::budget).
  FoldingBudget budget = FoldingBudget();
};

}  // namespace millrace::lowering
