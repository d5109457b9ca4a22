// Post-training quantisation: a floating point model and samples of what it is used for in, a model
// on eight-bit integers out, and an account of what that cost.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "graph/compiled_model.h"
#include "lowering/placement/placement.h"
#include "quantise/calibrate/histogram.h"
#include "quantise/calibrate/range.h"
#include "quantise/calibrate/sample.h"
#include "quantise/measure/difference.h"
#include "quantise/measure/output_agreement.h"

namespace millrace::quantise {

struct QuantiseOptions {
  RangeMethod method = RangeMethod::kPercentile;
  lowering::CpuOperators keep = {};  // operators and nodes that stay floating point, by name
  bool quantise_outputs = false;     // see SelectionOptions
  bool power_of_two_scales = false;  // of inputs and outputs, which are INT8 then, as the board's
  bool equalise = true;              // channels between convolutions
  bool correct_bias = true;          // for the mean of what rounding the weights changes
  // Layers stay floating point, those that lose most first, until OutputAgreement::error() is at
  // most this on the samples: in BF16 where the processor has it and the target still holds, in
  // FP32 otherwise.
  std::optional<double> accuracy_target = {};
  // Makes an FP32 model of the graph in which the quantisation is explicit (insert_requantise.h),
  // and the precision of layers that compute in BF16.
  std::function<Result<graph::CompiledModel>(graph::Graph graph)> finish;
  // Called when a part of the work begins, for progress; may be empty.
  std::function<void(std::string_view part)> on_step = {};
};

// The outcome for one layer: a node that could be quantised, or an input.
struct LayerAccount {
  std::string name;           // of the node, or the input
  std::string operator_name;  // "Conv"; "Input"
  double own_snr_db = 0;      // of the loss of this layer alone, for exact operands
  // The loss of all layers up to this one together, if the program shows its result.
  std::optional<double> snr_db, cosine;
  // The least time of its node in each program; none where there is no node of that name.
  std::optional<double> ms_before, ms_after;
  std::optional<graph::Precision> kept;  // what it computes in for the sake of the accuracy
  // The form of its result, if that is stored as integers.
  Range range;
  float scale = 0;
  int32_t zero_point = 0;
  Histogram values;  // of the exact result; empty where it is not stored as integers
};

struct QuantisedModel {
  graph::CompiledModel model;
  graph::Graph explicit_graph;       // the floating point graph with the pairs of Requantise
  std::vector<LayerAccount> layers;  // in the order of the graph, inputs first
  OutputAgreement outputs;
  double ms_before = 0, ms_after = 0;     // the least times of all steps of a run together
  std::optional<double> ms_without_kept;  // where layers are kept: that with none
  std::vector<std::string> warnings;      // each a sentence for the user
  bool target_holds = true;               // false: not even with all layers in floating point
};

// Adds what both programs have come to for one layer: times, and the difference of its results
// where the second shows them.
void add_comparison(LayerAccount& layer, const OutputRun& before, const OutputRun& after,
                    const std::optional<Difference>& difference);

// Requirement: `model` is static, of precision FP32, and of one frame; options.finish is there.
//
// kInvalidArgument: no samples, one that does not fit the inputs, a NaN or an infinity in a sample
// or in a value that is to be quantised (naming both), options.keep names nothing in the model, or
// there is nothing to quantise; otherwise as options.finish or the device fails.
Result<QuantisedModel> quantise(const graph::CompiledModel& model, std::span<const Sample> samples,
                                const QuantiseOptions& options);

}  // namespace millrace::quantise
