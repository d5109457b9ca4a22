// Class Mixer holds the state of one call of mix_precisions(). To rank the layers, it assembles the
// FP32 graph once for each group of layers, with these in BF16, and runs it on a few samples.
#include "quantise/mix_precisions.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "base/float_environment.h"
#include "device/cpu/capabilities/capabilities.h"
#include "lowering/assemble.h"
#include "lowering/passes/quantised/quantised_nodes.h"
#include "quantise/accuracy_search.h"
#include "quantise/calibrate/collect.h"
#include "quantise/calibrate/program_runner.h"
#include "quantise/measure/layer_agreement.h"
#include "quantise/measure/scores.h"
#include "quantise/rewrite/full_precision.h"
#include "quantise/sample_warnings.h"

namespace millrace::quantise {
namespace {

using graph::CompiledModel;
using graph::Graph;
using graph::Node;

// Limits for the ranking of layers, which assembles and runs one program per group of layers. The
// samples are evenly spaced over those given. A model of more layers than this number of groups has
// several consecutive layers in a group.
constexpr size_t kRankingSamples = 4;
constexpr size_t kMeasuredGroups = 128;

bool is_layer(const Graph& graph, const Node& node) {
  const graph::Value& result = graph.values[node.outputs[0]];
  return result.type == tensor::DataType::kFloat32 && result.elements() > 0 &&
         !lowering::only_moves(node.op);
}

// Returns group `index` of `count` groups of consecutive elements, whose sizes differ by at most
// one.
template <class T>
std::span<const T> group_of(std::span<const T> all, size_t index, size_t count) {
  const size_t first = index * all.size() / count, end = (index + 1) * all.size() / count;
  return all.subspan(first, end - first);
}

class Mixer {
 public:
  Mixer(const CompiledModel& model, std::span<const Sample> samples, const MixOptions& options)
      : model_(model), samples_(samples), options_(options) {}

  Result<QuantisedModel> run() {
    MILLRACE_RETURN_IF_ERROR(
        lowering::check_names(model_.graph, options_.fp32_names, "to compute in FP32"));
    MILLRACE_RETURN_IF_ERROR(check_samples());
    result_.warnings = sample_warnings(model_, samples_);
    add_layers();
    begin("measuring the outputs");
    MILLRACE_ASSIGN_OR_RETURN(exact_, run_outputs(model_, samples_));
    MILLRACE_ASSIGN_OR_RETURN(const double error, measure({}));
    MILLRACE_RETURN_IF_ERROR(check_bf16());
    if (!(error <= options_.max_error)) MILLRACE_RETURN_IF_ERROR(keep_layers(error));
    MILLRACE_RETURN_IF_ERROR(measure_values());
    return std::move(result_);
  }

 private:
  void begin(std::string_view phase) const {
    if (options_.on_phase) options_.on_phase(phase);
  }

  // Calibrates the inputs only, which refuses samples with a NaN or an infinity.
  Status check_samples() const {
    std::vector<bool> inputs(model_.graph.values.size());
    for (const graph::ValueId id : model_.graph.inputs) inputs[id] = true;
    return calibrate(model_, samples_, inputs).status();
  }

  // Fails if no step computed in BF16: the program would have been measured in FP32, and the
  // measurement would show no loss.
  Status check_bf16() const {
    if (run_.in_bf16) return {};
    return unsupported(
        fmt::format("no operator of {} computes in BF16 on this processor{}{}: there is no "
                    "accuracy to measure; compile the model on a processor with AVX512_BF16, or "
                    "choose precisions with --precision bf16 and --full-precision",
                    model_.name, run_.note.empty() ? "" : ", ", run_.note));
  }

  void add_layers() {
    for (const graph::Partition& partition : model_.partitions) {
      if (partition.kind != graph::PartitionKind::kNpu) continue;
      for (size_t i = partition.first; i < partition.first + partition.count; ++i)
        if (is_layer(model_.graph, model_.graph.nodes[i]) && !is_forced_fp32(model_.graph.nodes[i]))
          add_layer(i);
    }
  }

  bool is_forced_fp32(const Node& node) const {
    return !lowering::matching_names(node, options_.fp32_names).empty();
  }

  void add_layer(size_t node) {
    LayerAccount layer;
    layer.name = model_.graph.nodes[node].name;
    layer.operator_name = graph::name_of(model_.graph.nodes[node].op);
    layer.snr_db = std::numeric_limits<double>::quiet_NaN();
    result_.layers.push_back(std::move(layer));
    nodes_.push_back(node);
  }

  // Returns the graph in which exactly these layers compute in FP32 (`are_exact`), or exactly the
  // other layers do, besides the nodes that always compute in FP32.
  Graph graph_with(std::span<const uint32_t> layers, bool are_exact) const {
    std::vector<bool> exact;
    for (const Node& node : model_.graph.nodes) exact.push_back(is_forced_fp32(node));
    for (const size_t node : nodes_) exact[node] = !are_exact;
    for (const uint32_t layer : layers) exact[nodes_[layer]] = are_exact;
    return with_full_precision(model_.graph, exact);
  }

  // Builds the BF16 model with these layers in FP32 in result_, runs it on the samples, and returns
  // the error of its outputs.
  Result<double> measure(std::span<const uint32_t> kept) {
    result_.explicit_graph = graph_with(kept, true);
    MILLRACE_ASSIGN_OR_RETURN(result_.model, options_.finish(result_.explicit_graph));
    MILLRACE_ASSIGN_OR_RETURN(run_, run_outputs(result_.model, samples_));
    result_.outputs = compare_outputs(exact_.values, run_.values, is_classifier(model_));
    return result_.outputs.error();
  }

  Status keep_layers(double error_of_none) {
    result_.ms_without_kept = run_.total_ms;
    MILLRACE_RETURN_IF_ERROR(measure_layers());
    begin("searching for the layers that need FP32");
    MILLRACE_ASSIGN_OR_RETURN(
        const KeptLayers kept,
        keep_worst(ranked_layers(), options_.max_error, [&](std::span<const uint32_t> layers) {
          return layers.empty() ? Result<double>(error_of_none) : measure(layers);
        }));
    for (const uint32_t layer : kept.layers)
      result_.layers[layer].kept_in = graph::Precision::kFp32;
    result_.target_holds = kept.target_holds;
    return measure(kept.layers).status();  // the last choice measured may be another one
  }

  Status measure_layers() {
    begin("measuring each layer");
    std::vector<uint32_t> all(nodes_.size());
    std::iota(all.begin(), all.end(), 0U);
    std::vector<Sample> samples;
    OutputValues exact;
    const size_t count = std::min(kRankingSamples, samples_.size());
    for (size_t i = 0; i < count; ++i) {
      samples.push_back(samples_[i * samples_.size() / count]);
      exact.push_back(exact_.values[i * samples_.size() / count]);
    }
    const size_t groups = std::min(kMeasuredGroups, all.size());
    for (size_t i = 0; i < groups; ++i)
      MILLRACE_RETURN_IF_ERROR(
          measure_alone(group_of(std::span<const uint32_t>(all), i, groups), samples, exact));
    return {};
  }

  // Measures the SNR of the outputs with these layers in BF16 and all others in FP32.
  Status measure_alone(std::span<const uint32_t> layers, std::span<const Sample> samples,
                       const OutputValues& exact) {
    lowering::LoweringOptions lowering;
    lowering.capabilities = device::cpu::capabilities();
    lowering.precision = graph::Precision::kBf16;
    MILLRACE_ASSIGN_OR_RETURN(const CompiledModel model,
                              lowering::assemble(graph_with(layers, false), lowering, model_.name));
    MILLRACE_ASSIGN_OR_RETURN(const OutputRun run, run_outputs(model, samples));
    const double snr_db = compare_outputs(exact, run.values, false).snr_db;
    for (const uint32_t layer : layers) result_.layers[layer].snr_db = snr_db;
    return {};
  }

  // Returns the layers in ascending order of their SNR; NaN counts as the lowest.
  std::vector<uint32_t> ranked_layers() const {
    std::vector<uint32_t> ranked(nodes_.size());
    std::iota(ranked.begin(), ranked.end(), 0U);
    std::ranges::stable_sort(ranked, {}, [&](uint32_t layer) {
      const double snr_db = result_.layers[layer].snr_db;
      return std::isnan(snr_db) ? -std::numeric_limits<double>::infinity() : snr_db;
    });
    return ranked;
  }

  Status measure_values() {
    begin("comparing both programs");
    MILLRACE_ASSIGN_OR_RETURN(const auto differences,
                              compare_values(model_, result_.model, samples_));
    for (size_t i = 0; i < nodes_.size(); ++i) {
      const Node& node = model_.graph.nodes[nodes_[i]];
      add_comparison(result_.layers[i], exact_, run_, differences[node.outputs[0]]);
    }
    result_.ms_before = exact_.total_ms;
    result_.ms_after = run_.total_ms;
    return {};
  }

  const CompiledModel& model_;  // FP32
  std::span<const Sample> samples_;
  const MixOptions& options_;
  OutputRun exact_, run_;  // of the FP32 program, and of the one in result_
  QuantisedModel result_;
  std::vector<size_t> nodes_;  // by layer of result_: the index of its node
};

}  // namespace

Result<QuantisedModel> mix_precisions(const CompiledModel& model, std::span<const Sample> samples,
                                      const MixOptions& options) {
  const DefaultFloatEnvironment floats;
  return Mixer(model, samples, options).run();
}

}  // namespace millrace::quantise
