// Class Quantiser holds the state of one call of quantise(). Its run() selects what is quantised,
// calibrates (after equalising channels, if that is wanted), measures each layer by itself,
// searches for the precisions, and compares the two programs.
#include "quantise/quantise.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "base/float_environment.h"
#include "lowering/assemble.h"
#include "quantise/accuracy_search.h"
#include "quantise/calibrate/collect.h"
#include "quantise/calibrate/program_runner.h"
#include "quantise/measure/layer_agreement.h"
#include "quantise/measure/scores.h"
#include "quantise/rewrite/equalise.h"
#include "quantise/rewrite/insert_requantise.h"
#include "quantise/rewrite/probes.h"
#include "quantise/sample_warnings.h"

namespace millrace::quantise {
namespace {

using graph::CompiledModel;
using graph::Graph;
using graph::ValueId;

std::optional<double> time_in(const OutputRun& run, const std::string& node) {
  const auto entry = run.node_ms.find(node);
  return entry == run.node_ms.end() ? std::nullopt : std::optional(entry->second);
}

class Quantiser {
 public:
  Quantiser(const CompiledModel& model, std::span<const Sample> samples,
            const QuantiseOptions& options)
      : model_(model), samples_(samples), options_(options) {}

  Result<QuantisedModel> run() {
    for (const Sample& sample : samples_) MILLRACE_RETURN_IF_ERROR(check_sample(model_, sample));
    MILLRACE_ASSIGN_OR_RETURN(Selection selection, select({}));
    if (selection.empty())
      return invalid_argument(
          "there is nothing to quantise: no convolution or matrix product has constant weights, or "
          "all are kept in floating point");
    MILLRACE_RETURN_IF_ERROR(calibrate_on(selection));
    result_.warnings = sample_warnings(model_, samples_);
    warn_of_zeros(selection);
    MILLRACE_RETURN_IF_ERROR(measure_layers(selection));
    MILLRACE_RETURN_IF_ERROR(choose_precisions());
    MILLRACE_RETURN_IF_ERROR(measure_values());
    return std::move(result_);
  }

 private:
  void begin(std::string_view phase) const {
    if (options_.on_phase) options_.on_phase(phase);
  }

  Result<Selection> select(const std::vector<bool>& kept) const {
    return select_nodes(model_.graph, {options_.float_names, kept, options_.quantise_outputs});
  }

  // Fills calibration_. If channels are equalised, this changes the graph and its constants, so
  // `selection` is made anew and the equalised graph is calibrated.
  Status calibrate_on(Selection& selection) {
    begin("calibrating");
    MILLRACE_ASSIGN_OR_RETURN(calibration_, calibrate(model_, samples_, selection.values));
    if (!options_.equalise) return {};
    Graph graph = model_.graph;
    if (equalise(graph, calibration_) == 0) return {};
    begin("equalising channels");
    model_.graph = std::move(graph);
    MILLRACE_ASSIGN_OR_RETURN(selection, select({}));  // equalise() has added constants
    MILLRACE_ASSIGN_OR_RETURN(calibration_, calibrate(model_, samples_, selection.values));
    return {};
  }

  Quantised quantised(Selection selection) const {
    Quantised quantised;
    quantised.encodings = choose_encodings(model_.graph, selection, calibration_,
                                           {options_.method, options_.power_of_two_scales});
    quantised.selection = std::move(selection);
    if (options_.correct_bias) quantised.calibration = calibration_;
    return quantised;
  }

  void warn_of_zeros(const Selection& selection) {
    for (ValueId id = 0; id < selection.values.size(); ++id)
      if (selection.values[id] && calibration_[id]->histogram().limit() == 0)
        result_.warnings.push_back(fmt::format(
            "'{}' was zero in all samples, so its range is unknown: any other value of it will "
            "saturate",
            model_.graph.values[id].name));
  }

  Status measure_layers(const Selection& selection) {
    begin("measuring each layer");
    const Quantised all = quantised(selection);
    const ProbedGraph probed = probe_layers(model_.graph, all);
    MILLRACE_ASSIGN_OR_RETURN(const auto differences, measure_probes(probed, samples_));
    for (size_t i = 0; i < probed.probes.size(); ++i)
      add_account(probed.probes[i], differences[i], all.encodings);
    return {};
  }

  void add_account(const Probe& probe, const Difference& difference, const Encodings& encodings) {
    LayerAccount layer;
    const ValueId value = probe.node ? model_.graph.nodes[*probe.node].outputs[0] : *probe.input;
    layer.name =
        probe.node ? model_.graph.nodes[*probe.node].name : model_.graph.values[value].name;
    layer.operator_name = probe.node ? graph::name_of(model_.graph.nodes[*probe.node].op) : "Input";
    layer.snr_db = difference.snr_db();
    if (encodings[value]) {
      layer.range = range_of(*encodings[value]);
      layer.scale = encodings[value]->quantisation.scales[0];
      layer.zero_point = encodings[value]->quantisation.zero_points[0];
      layer.values = calibration_[value]->histogram();
    }
    result_.layers.push_back(std::move(layer));
    values_.push_back(value);
    nodes_.push_back(probe.node);
  }

  // Returns the layers that are nodes, in ascending order of their SNR.
  std::vector<uint32_t> ranked_layers() const {
    std::vector<uint32_t> ranked;
    for (uint32_t i = 0; i < nodes_.size(); ++i)
      if (nodes_[i]) ranked.push_back(i);
    std::ranges::stable_sort(ranked, {}, [&](uint32_t i) { return result_.layers[i].snr_db; });
    return ranked;
  }

  // Builds the model in result_. The layers `kept` are not quantised: those of them that are also
  // in `fp32` compute in FP32, the others in BF16.
  Status build(std::span<const uint32_t> kept, std::span<const uint32_t> fp32) {
    std::vector<bool> kept_nodes(model_.graph.nodes.size());
    for (const uint32_t layer : kept) kept_nodes[*nodes_[layer]] = true;
    MILLRACE_ASSIGN_OR_RETURN(Selection selection, select(kept_nodes));
    Graph graph = model_.graph;
    for (const uint32_t layer : kept)
      graph.nodes[*nodes_[layer]].precision = graph::Precision::kBf16;
    // Without a precision of its own a node computes in that of the model, FP32.
    for (const uint32_t layer : fp32) graph.nodes[*nodes_[layer]].precision.reset();
    result_.explicit_graph = insert_requantise(graph, quantised(std::move(selection)));
    if (Status status = graph::validate(result_.explicit_graph); !status.ok())
      return internal_error(fmt::format("after quantisation: {}", status.message()));
    MILLRACE_ASSIGN_OR_RETURN(result_.model, options_.finish(result_.explicit_graph));
    return {};
  }

  // Builds the model as build() does, runs it on the samples, and returns the error of its outputs.
  Result<double> measure(std::span<const uint32_t> kept, std::span<const uint32_t> fp32) {
    MILLRACE_RETURN_IF_ERROR(build(kept, fp32));
    MILLRACE_ASSIGN_OR_RETURN(run_, run_outputs(result_.model, samples_));
    result_.outputs = compare_outputs(exact_.values, run_.values, is_classifier(model_));
    return result_.outputs.error();
  }

  // Builds the final model. If full quantisation misses the accuracy target, two searches by
  // bisection (accuracy_search.h) follow: the first finds the layers to keep with all kept layers
  // in FP32, the second the kept layers that need FP32 while the others compute in BF16.
  Status choose_precisions() {
    begin("measuring the outputs");
    MILLRACE_ASSIGN_OR_RETURN(exact_, run_outputs(model_, samples_));
    MILLRACE_ASSIGN_OR_RETURN(const double error, measure({}, {}));
    if (!options_.max_error || error <= *options_.max_error) return {};
    result_.ms_without_kept = run_.total_ms;
    begin("searching for the layers that need floating point");
    MILLRACE_ASSIGN_OR_RETURN(
        const KeptLayers kept,
        keep_worst(ranked_layers(), *options_.max_error, [&](std::span<const uint32_t> layers) {
          return layers.empty() ? Result<double>(error) : measure(layers, layers);
        }));
    result_.target_holds = kept.target_holds;
    std::vector<uint32_t> fp32 = kept.layers;
    if (kept.target_holds) {
      MILLRACE_ASSIGN_OR_RETURN(fp32, layers_for_fp32(kept.layers));
    }
    for (const uint32_t layer : kept.layers)
      result_.layers[layer].kept_in = graph::Precision::kBf16;
    for (const uint32_t layer : fp32) result_.layers[layer].kept_in = graph::Precision::kFp32;
    return measure(kept.layers, fp32).status();  // the last choice measured may be another one
  }

  // Returns the kept layers that need FP32. Requirement: the target holds with all of them in FP32.
  Result<std::vector<uint32_t>> layers_for_fp32(const std::vector<uint32_t>& kept) {
    begin("trying BF16 for the layers in floating point");
    MILLRACE_ASSIGN_OR_RETURN(const double error, measure(kept, {}));
    if (!run_.in_bf16) return kept;
    MILLRACE_ASSIGN_OR_RETURN(
        KeptLayers fp32,
        keep_worst(kept, *options_.max_error, [&](std::span<const uint32_t> layers) {
          return layers.empty() ? Result<double>(error) : measure(kept, layers);
        }));
    return std::move(fp32.layers);
  }

  Status measure_values() {
    begin("comparing both programs");
    MILLRACE_ASSIGN_OR_RETURN(const auto differences,
                              compare_values(model_, result_.model, samples_));
    for (size_t i = 0; i < values_.size(); ++i)
      add_comparison(result_.layers[i], exact_, run_, differences[values_[i]]);
    result_.ms_before = exact_.total_ms;
    result_.ms_after = run_.total_ms;
    return {};
  }

  CompiledModel model_;  // in floating point; calibrate_on() may equalise its graph
  std::span<const Sample> samples_;
  const QuantiseOptions& options_;
  Calibration calibration_;
  OutputRun exact_, run_;  // of the floating point program, and of the one in result_
  QuantisedModel result_;
  // By layer of result_: its value, and the index of its node unless it is an input.
  std::vector<ValueId> values_;
  std::vector<std::optional<size_t>> nodes_;
};

}  // namespace

void add_comparison(LayerAccount& layer, const OutputRun& before, const OutputRun& after,
                    const std::optional<Difference>& difference) {
  layer.ms_before = time_in(before, layer.name);
  layer.ms_after = time_in(after, layer.name);
  if (difference) layer.cosine = difference->cosine();
}

Result<QuantisedModel> quantise(const CompiledModel& model, std::span<const Sample> samples,
                                const QuantiseOptions& options) {
  const DefaultFloatEnvironment floats;
  return Quantiser(model, samples, options).run();
}

}  // namespace millrace::quantise
