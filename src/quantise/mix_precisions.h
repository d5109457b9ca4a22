// Mixed precision: mix_precisions() takes a floating point model and samples of its typical inputs,
// and returns a BF16 model in which the layers that lose too much accuracy compute in FP32.
//
// It is a search by layer sensitivity: each layer is ranked by the SNR of the outputs when it alone
// computes in BF16, and the layers with the lowest SNR are kept in FP32, as few as the accuracy
// target allows (accuracy_search.h).
#pragma once

#include <functional>
#include <span>
#include <string_view>

#include "base/status.h"
#include "graph/compiled_model.h"
#include "lowering/placement/placement.h"
#include "quantise/quantise.h"

namespace millrace::quantise {

struct MixOptions {
  // Operators and nodes that compute in FP32 in any case. They are no layers.
  lowering::OperatorNames fp32_names = {};
  double max_error = 0;  // the accuracy target: greatest OutputAgreement::error() on the samples
  // Compiles a graph to a BF16 model. The graph's nodes that compute in FP32 are marked.
  std::function<Result<graph::CompiledModel>(graph::Graph graph)> finish;
  // Called with the name of each phase of the work when it begins, for progress; may be empty.
  std::function<void(std::string_view phase)> on_phase = {};
};

// The layers are the nodes of NPU partitions with a FLOAT32 result, except those that only move
// elements and those that options.fp32_names selects. If the model meets the target with all layers
// in BF16, none is measured by itself and LayerAccount::snr_db is NaN. In a model of more than 128
// layers, consecutive ones are measured together.
//
// Requirement: `model` is static, of precision FP32 and of one frame, and options.finish is set.
//
// kInvalidArgument: there are no samples, a sample does not fit the inputs or has a NaN or an
// infinity, or options.fp32_names has a name that matches nothing in the model; kUnsupported:
// nothing in the model computes in BF16 on this processor, so that there is nothing to measure.
// Other errors are those of options.finish and of the device.
Result<QuantisedModel> mix_precisions(const graph::CompiledModel& model,
                                      std::span<const Sample> samples, const MixOptions& options);

}  // namespace millrace::quantise
