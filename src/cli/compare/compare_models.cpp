#include "cli/compare/compare_models.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <optional>

#include "cli/golden/golden_compare.h"
#include "cli/inputs/boundary_tensor.h"
#include "cli/inputs/frames.h"
#include "cli/inputs/open_tensors.h"
#include "cli/inputs/picture_note.h"
#include "cli/model_source.h"
#include "device/registry.h"
#include "graph/inner_values.h"
#include "quantise/rewrite/insert_requantise.h"
#include "runtime/session.h"

namespace millrace::cli {
namespace {

using device::View;

// One model and its outputs for all frames of the inputs.
struct Run {
  std::shared_ptr<const graph::CompiledModel> model;  // with its inner values as outputs
  std::vector<JobBuffers> jobs;
  uint32_t frames = 0;
};

Result<Run> run_with_inner_values(const std::string& path, const CompareArguments& arguments) {
  MILLRACE_ASSIGN_OR_RETURN(const auto model,
                            open_static_model(path, arguments.flags, arguments.shapes));
  MILLRACE_ASSIGN_OR_RETURN(graph::CompiledModel all, graph::with_inner_values(*model));
  Run run;
  run.model = std::make_shared<const graph::CompiledModel>(std::move(all));
  MILLRACE_ASSIGN_OR_RETURN(const auto device, device::open_device_of_program(
                                                   arguments.device, {.stated_precision = true}));
  MILLRACE_ASSIGN_OR_RETURN(const auto program, device->load(run.model));
  MILLRACE_ASSIGN_OR_RETURN(const auto session, runtime::Session::create(device, program));
  MILLRACE_ASSIGN_OR_RETURN(const auto files, resolve_inputs(*run.model, arguments.inputs));
  MILLRACE_ASSIGN_OR_RETURN(const io::PictureOptions picture, picture_options(arguments.picture));
  MILLRACE_ASSIGN_OR_RETURN(const LoadedInputs inputs,
                            load_inputs(*run.model, View::kCpu, files, {}, picture));
  // The inputs of both models are the same.
  if (&path == &arguments.model) note_unstated_preprocessing(*model, inputs, arguments.picture);
  MILLRACE_ASSIGN_OR_RETURN(run.jobs, run_frames(*session, inputs, View::kCpu, View::kCpu));
  run.frames = inputs.frames;
  return run;
}

// Returns the elements of an output in all frames, one after another, or the real numbers that
// they stand for.
Result<std::vector<float>> values_in(const Run& run, size_t output, bool real) {
  const graph::Boundary& boundary = run.model->outputs[output];
  std::vector<float> values;
  for (uint32_t frame = 0; frame < run.frames; ++frame) {
    const uint32_t batch = run.model->batch_size;
    MILLRACE_ASSIGN_OR_RETURN(
        std::vector<float> of_frame,
        values_of(boundary, View::kCpu, run.jobs[frame / batch].output(frame % batch, output)));
    if (real) of_frame = real_values(*run.model, boundary, std::move(of_frame));
    values.insert(values.end(), of_frame.begin(), of_frame.end());
  }
  return values;
}

// The elements of a value on the other side, in all frames.
struct Counterpart {
  std::vector<float> values;
  // True if one side has quantised integers and the other floating-point values: these elements,
  // and those to compare them with, are the real numbers.
  bool real = false;
};

// The other side of the comparison. values_for() returns the counterpart of a value of the first
// model; nothing if there is none.
class Reference {
 public:
  virtual ~Reference() = default;
  virtual Result<std::optional<Counterpart>> values_for(const graph::Boundary& boundary) = 0;
};

// Returns the name that a value has after or before quantisation, which adds a suffix to it.
std::string name_across_quantisation(const std::string& name) {
  const std::string suffix = quantise::quantised_name("");
  return name.ends_with(suffix) ? name.substr(0, name.size() - suffix.size())
                                : quantise::quantised_name(name);
}

class OtherRun final : public Reference {
 public:
  explicit OtherRun(Run run) : run_(std::move(run)) {
    for (size_t i = 0; i < run_.model->outputs.size(); ++i)
      by_name_.emplace(run_.model->outputs[i].cpu.name, i);
  }
  Result<std::optional<Counterpart>> values_for(const graph::Boundary& boundary) override {
    auto output = output_like(boundary, boundary.cpu.name);
    if (!output) output = output_like(boundary, name_across_quantisation(boundary.cpu.name));
    if (!output) return std::optional<Counterpart>();
    const graph::Boundary& theirs = run_.model->outputs[*output];
    Counterpart counterpart;
    counterpart.real =
        tensor::is_floating(theirs.cpu.type) != tensor::is_floating(boundary.cpu.type);
    MILLRACE_ASSIGN_OR_RETURN(counterpart.values, values_in(run_, *output, counterpart.real));
    return std::optional(std::move(counterpart));
  }

 private:
  std::optional<size_t> output_like(const graph::Boundary& boundary,
                                    const std::string& name) const {
    const auto found = by_name_.find(name);
    if (found == by_name_.end() ||
        run_.model->outputs[found->second].cpu.shape != boundary.cpu.shape)
      return std::nullopt;
    return found->second;
  }

  Run run_;
  std::map<std::string, size_t> by_name_;
};

class DumpedValues final : public Reference {
 public:
  explicit DumpedValues(std::string directory) : directory_(std::move(directory)) {}
  Result<std::optional<Counterpart>> values_for(const graph::Boundary& boundary) override {
    const auto path =
        std::filesystem::path(directory_) / (file_name_part(boundary.cpu.name) + ".npy");
    if (!std::filesystem::exists(path)) return std::optional<Counterpart>();
    MILLRACE_ASSIGN_OR_RETURN(const io::Array array, io::read_npy(path.string()));
    MILLRACE_ASSIGN_OR_RETURN(const auto bytes, frames_of(array, boundary.cpu, path.string()));
    Counterpart counterpart;
    for (size_t at = 0; at < bytes.size(); at += boundary.cpu.bytes()) {
      MILLRACE_ASSIGN_OR_RETURN(const std::vector<float> frame,
                                values_of(boundary, View::kCpu, bytes.data() + at));
      counterpart.values.insert(counterpart.values.end(), frame.begin(), frame.end());
    }
    return std::optional(std::move(counterpart));
  }

 private:
  std::string directory_;
};

LayerDifference compare_layer(const graph::Boundary& boundary, const std::vector<float>& ours,
                              const Counterpart& theirs, double threshold) {
  const Comparison comparison = compare(boundary, ours, theirs.values, {});
  double magnitude = 0;
  for (const float value : theirs.values)
    if (std::isfinite(value)) magnitude = std::max(magnitude, std::abs(double{value}));
  LayerDifference layer;
  layer.value = boundary.cpu.name;
  layer.shape = boundary.cpu.shape;
  layer.largest = comparison.max_steps * comparison.step;
  layer.relative = magnitude > 0 ? layer.largest / magnitude : layer.largest;
  layer.cosine = comparison.cosine;
  if (!tensor::is_floating(boundary.cpu.type) && !theirs.real) layer.steps = comparison.max_steps;
  layer.beyond = layer.relative > threshold;
  return layer;
}

// Returns the outputs in the order of the nodes that make them, so that the first difference is
// that of the first layer that differs.
std::vector<size_t> outputs_as_made(const graph::CompiledModel& model) {
  std::vector<size_t> place(model.graph.values.size());
  size_t next = 0;
  for (const graph::Node& node : model.graph.nodes)
    for (const graph::ValueId id : node.outputs) place[id] = next++;
  std::vector<size_t> order(model.outputs.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::stable_sort(order, {}, [&](size_t i) { return place[model.outputs[i].value]; });
  return order;
}

Result<LayerReport> compare_runs(const Run& ours, Reference& reference, double threshold) {
  LayerReport report;
  report.threshold = threshold;
  for (const size_t output : outputs_as_made(*ours.model)) {
    const graph::Boundary& boundary = ours.model->outputs[output];
    MILLRACE_ASSIGN_OR_RETURN(const auto theirs, reference.values_for(boundary));
    if (!theirs) {
      ++report.not_compared;
      continue;
    }
    MILLRACE_ASSIGN_OR_RETURN(const std::vector<float> values,
                              values_in(ours, output, theirs->real));
    if (values.size() != theirs->values.size())
      return invalid_argument(
          fmt::format("value '{}' has {} elements in all frames, but {} on the other side",
                      boundary.cpu.name, values.size(), theirs->values.size()));
    report.layers.push_back(compare_layer(boundary, values, *theirs, threshold));
  }
  if (report.layers.empty())
    return invalid_argument("no value is on both sides with the same name and shape");
  return report;
}

Result<std::unique_ptr<Reference>> open_reference(const CompareArguments& arguments) {
  if (arguments.reference.empty()) {
    MILLRACE_ASSIGN_OR_RETURN(Run run, run_with_inner_values(arguments.other, arguments));
    return std::unique_ptr<Reference>(std::make_unique<OtherRun>(std::move(run)));
  }
  std::error_code error;
  if (!std::filesystem::is_directory(arguments.reference, error))
    return Status(StatusCode::kNotFound, arguments.reference + " is not a directory");
  return std::unique_ptr<Reference>(std::make_unique<DumpedValues>(arguments.reference));
}

}  // namespace

Status check_compare(const CompareArguments& arguments) {
  if (arguments.other.empty() == arguments.reference.empty())
    return invalid_argument("compare takes either a second model or --reference, not both");
  MILLRACE_RETURN_IF_ERROR(picture_options(arguments.picture).status());
  MILLRACE_RETURN_IF_ERROR(check_shape_texts("--shape", arguments.shapes));
  MILLRACE_RETURN_IF_ERROR(check_flags(arguments.model, arguments.flags));
  return arguments.other.empty() ? Status() : check_flags(arguments.other, arguments.flags);
}

Result<LayerReport> compare_models(const CompareArguments& arguments) {
  MILLRACE_ASSIGN_OR_RETURN(const Run ours, run_with_inner_values(arguments.model, arguments));
  MILLRACE_ASSIGN_OR_RETURN(const auto reference, open_reference(arguments));
  return compare_runs(ours, *reference, arguments.threshold);
}

}  // namespace millrace::cli
