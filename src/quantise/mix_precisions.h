// Mixed precision: a floating point model and samples of what it is used for in, a BF16 model out
// in which the layers that would lose too much compute in FP32.
#pragma once

#include <functional>
#include <span>
#include <string_view>

#include "base/status.h"
#include "graph/compiled_model.h"
#include "quantise/quantise.h"

namespace millrace::quantise {

struct MixOptions {
  // OutputAgreement::error() is to be at most this on the samples.
  double accuracy_target = 0;
  // Makes a BF16 model of the graph, whose nodes of FP32 say so.
  std::function<Result<graph::CompiledModel>(graph::Graph graph)> finish;
  // Called when a part of the work begins, for progress; may be empty.
  std::function<void(std::string_view part)> on_step = {};
};

// Layers are the nodes on the NPU that compute floating point numbers. Where BF16 alone misses the
// target, each of them is measured: LayerAccount::own_snr_db is that of the outputs when it alone
// computes in BF16. With that, those that hurt most are kept in FP32. Where BF16 is good enough,
// own_snr_db is NaN.
//
// Requirement: `model` is static, of precision FP32, and of one frame; options.finish is there.
//
// kInvalidArgument: no samples, one that does not fit the inputs, or a NaN or an infinity in one;
// kUnsupported: nothing of the model computes in BF16 on this processor, so that there is nothing
// to measure; otherwise as options.finish or the device fails.
Result<QuantisedModel> mix_precisions(const graph::CompiledModel& model,
                                      std::span<const Sample> samples, const MixOptions& options);

}  // namespace millrace::quantise
