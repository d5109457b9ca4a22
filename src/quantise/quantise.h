// Post-training quantisation (PTQ) to INT8: quantise() takes a floating point model and samples of
// its typical inputs, and returns a model that computes on eight-bit integers, with a report on the
// accuracy that each layer loses.
//
// The phases: select the nodes to quantise, calibrate value ranges on the samples, equalise
// channels (equalise.h), choose a scale and a zero point for each value, quantise the weights with
// bias correction (weights.h), and insert pairs of Requantise (insert_requantise.h). With an
// accuracy target, the layers with the lowest SNR are kept in BF16 or FP32 until the target holds
// (accuracy_search.h).
//
// Models are compiled, loaded on the CPU device and run within the call. Callbacks of the options
// run on the calling thread.
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
  lowering::OperatorNames float_names = {};  // operators and nodes that stay floating point
  bool quantise_outputs = false;             // see SelectionOptions
  bool power_of_two_scales = false;  // inputs and outputs are INT8 with a power of two as scale
  bool equalise = true;              // equalises channels between convolutions (equalise.h)
  bool correct_bias = true;          // corrects biases for the mean error of rounded weights
  // The accuracy target: layers are kept in floating point, those with the lowest SNR first, until
  // OutputAgreement::error() is at most this on the samples. A kept layer computes in BF16 if the
  // device does that and the target still holds, and in FP32 otherwise.
  std::optional<double> max_error = {};
  // Compiles a graph to an FP32 model. The graph has explicit quantisation (insert_requantise.h),
  // and its nodes that compute in BF16 are marked.
  std::function<Result<graph::CompiledModel>(graph::Graph graph)> finish;
  // Called with the name of each phase of the work when it begins, for progress; may be empty.
  std::function<void(std::string_view phase)> on_phase = {};
};

// The outcome for one layer: a node that was selected for quantisation, or an input that is stored
// as integers. In results of mix_precisions(), a layer is a node that may compute in BF16.
struct LayerAccount {
  std::string name;           // of the node, or the input
  std::string operator_name;  // "Conv"; "Input"
  // SNR if this layer alone has the lower precision and all others are exact: of its result in
  // quantise(), of the outputs of the model in mix_precisions().
  double snr_db = 0;
  // Cosine similarity of its result and the exact one, with the loss of all layers before it; empty
  // if the compiled program has no such value.
  std::optional<double> cosine;
  // The least time of its node in each program, in ms; empty if there is no node of that name.
  std::optional<double> ms_before, ms_after;
  // The higher precision in which it is kept for the accuracy target; empty: it is not kept.
  std::optional<graph::Precision> kept_in;
  // The quantised encoding of its result, if that is stored as integers.
  Range range;
  float scale = 0;
  int32_t zero_point = 0;
  Histogram values;  // of the exact result; empty if that is not stored as integers
};

struct QuantisedModel {
  graph::CompiledModel model;
  graph::Graph explicit_graph;       // the graph before it was compiled by options.finish
  std::vector<LayerAccount> layers;  // in the order of the graph, inputs first
  OutputAgreement outputs;
  double ms_before = 0, ms_after = 0;     // sums of the least times of all steps of a job, in ms
  std::optional<double> ms_without_kept;  // ms_after without kept layers, if the target needs some
  std::vector<std::string> warnings;      // each a sentence for the user
  bool target_holds = true;               // false: missed even with all layers in floating point
};

// Adds the times of one layer in both programs and, if `difference` has a value, the cosine of its
// results.
void add_comparison(LayerAccount& layer, const OutputRun& before, const OutputRun& after,
                    const std::optional<Difference>& difference);

// Quantises `model`. Requirement: it is static, of precision FP32 and of one frame, and
// options.finish is set.
//
// kInvalidArgument: there are no samples, a sample does not fit the inputs, a sample or a value to
// be quantised has a NaN or an infinity (the message names both), options.float_names has a name
// that matches nothing in the model, or there is nothing to quantise. Other errors are those of
// options.finish and of the device.
Result<QuantisedModel> quantise(const graph::CompiledModel& model, std::span<const Sample> samples,
                                const QuantiseOptions& options);

}  // namespace millrace::quantise
