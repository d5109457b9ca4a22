// The CPU device measures kernels while it loads a model, if MILLRACE_TUNE is set, and chooses by
// the record that MILLRACE_TUNING names. So the model is loaded with and without these variables,
// and runs of both programs alternate, which makes them comparable when the clock rate drifts. No
// other thread may access environment variables meanwhile.
#include "cli/tune/tune_model.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <span>
#include <utility>
#include <variant>

#include "base/files/output_target.h"
#include "base/log.h"
#include "cli/inputs/job_buffers.h"
#include "cli/inputs/open_tensors.h"
#include "cli/inputs/random_inputs.h"
#include "cli/progress.h"
#include "cli/tune/record_place.h"
#include "runtime/session.h"

namespace millrace::cli {
namespace {

using Clock = std::chrono::steady_clock;
using Model = std::shared_ptr<const graph::CompiledModel>;

// The device reads both variables when it loads a model (device/cpu/plan/plan.h).
constexpr const char* kRecord = "MILLRACE_TUNING";
constexpr const char* kMeasure = "MILLRACE_TUNE";

// The model loaded in one of two ways, and its latencies.
struct Side {
  std::shared_ptr<runtime::Session> session;
  JobBuffers buffers;
  std::vector<double> milliseconds;
};

Result<Side> make_side(const LoadedModel& loaded) {
  const graph::CompiledModel& model = loaded.program->model();
  constexpr device::View kView = device::View::kHw;
  MILLRACE_ASSIGN_OR_RETURN(auto session, runtime::Session::create(loaded.device, loaded.program));
  MILLRACE_ASSIGN_OR_RETURN(
      JobBuffers buffers,
      JobBuffers::allocate(model, model.inputs, model.batch_size, kView, kView));
  MILLRACE_RETURN_IF_ERROR(fill_inputs(model.inputs, kView, buffers));
  MILLRACE_RETURN_IF_ERROR(session->execute(buffers.bindings()));
  return Side{std::move(session), std::move(buffers), {}};
}

Status run_once(Side& side) {
  const Clock::time_point before = Clock::now();
  MILLRACE_RETURN_IF_ERROR(side.session->execute(side.buffers.bindings()));
  side.milliseconds.push_back(
      std::chrono::duration<double, std::milli>(Clock::now() - before).count());
  return {};
}

double median(std::vector<double> values) {
  std::ranges::nth_element(values, values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2));
  return values[values.size() / 2];
}

bool has_convolutions(const graph::CompiledModel& model, const graph::Partition& partition) {
  const auto nodes = std::span(model.graph.nodes).subspan(partition.first, partition.count);
  return partition.kind == graph::PartitionKind::kNpu &&
         std::ranges::any_of(nodes, [](const graph::Node& node) {
           return std::holds_alternative<graph::Conv>(node.op);
         });
}

bool has_convolutions_on_npu(const graph::CompiledModel& model) {
  return std::ranges::any_of(model.partitions, [&](const graph::Partition& partition) {
    return has_convolutions(model, partition);
  });
}

// Returns the number of convolutions whose kernels were chosen by times of the record.
size_t count_chosen(const device::Program& program) {
  const device::ProgramInfo info = program.info();
  return static_cast<size_t>(std::ranges::count_if(info.steps, [](const device::StepInfo& step) {
    return step.chosen_by == device::KernelChoice::kMeasured;
  }));
}

Result<LoadedModel> load_usual(const Model& model) {
  unsetenv(kRecord);
  return load_on(kTunedDevice, model);
}

Result<LoadedModel> load_measured(const Model& model, const std::string& record) {
  setenv(kRecord, record.c_str(), 1);
  setenv(kMeasure, "1", 1);
  Progress progress("tune");
  progress.update("measuring kernels");
  auto loaded = load_on(kTunedDevice, model);
  unsetenv(kMeasure);
  return loaded;
}

// Collects what is logged as a warning, unless the user has chosen where the log goes.
class Warnings {
 public:
  Warnings() : collects_(!log_is_chosen()) {
    if (collects_)
      set_log_sink(
          [this](LogLevel, std::string_view, std::string_view line) { lines_.emplace_back(line); },
          LogLevel::kWarning);
  }
  ~Warnings() { end(); }
  Warnings(const Warnings&) = delete;
  Warnings& operator=(const Warnings&) = delete;

  void end() {
    if (collects_) set_log_sink({});
    collects_ = false;
  }
  const std::vector<std::string>& lines() const { return lines_; }

 private:
  bool collects_;
  std::vector<std::string> lines_;
};

bool computes_in_floating_point(const device::StepInfo& step) {
  return step.operation.starts_with("Conv") && step.precision.has_value();
}

// Returns why no kernel was chosen by times.
Status why_none(const device::Program& program, const std::string& model, const std::string& record,
                const std::vector<std::string>& warnings) {
  const device::ProgramInfo info = program.info();
  if (std::ranges::none_of(info.steps, computes_in_floating_point))
    return unsupported(fmt::format(
        "{}: no kernel is chosen by times: no convolution on the NPU computes in floating point",
        model));
  return unsupported(fmt::format("{}: {} cannot be used: {}", model, record,
                                 warnings.empty() ? std::string("the log says why")
                                                  : fmt::format("{}", fmt::join(warnings, "; "))));
}

}  // namespace

Status check_tune(const TuneArguments& arguments) {
  MILLRACE_RETURN_IF_ERROR(check_shape_texts("--shape", arguments.shapes));
  return check_flags(arguments.model, arguments.flags);
}

Result<Tuning> tune_model(const TuneArguments& arguments) {
  const std::string record =
      arguments.record.empty() ? record_beside(arguments.model) : arguments.record;
  MILLRACE_RETURN_IF_ERROR(check_output(record));
  MILLRACE_ASSIGN_OR_RETURN(const Model model,
                            open_static_model(arguments.model, arguments.flags, arguments.shapes));
  if (!has_convolutions_on_npu(*model))
    return unsupported(
        fmt::format("{}: there is nothing to tune: only kernels of convolutions on the NPU are "
                    "chosen by their times, and the model has none",
                    arguments.model));
  Warnings warnings;
  const Result<LoadedModel> measured = load_measured(model, record);
  warnings.end();
  MILLRACE_ASSIGN_OR_RETURN(const LoadedModel tuned, measured);
  const size_t chosen = count_chosen(*tuned.program);
  if (chosen == 0) return why_none(*tuned.program, arguments.model, record, warnings.lines());
  MILLRACE_ASSIGN_OR_RETURN(const LoadedModel usual, load_usual(model));
  MILLRACE_ASSIGN_OR_RETURN(Side before, make_side(usual));
  MILLRACE_ASSIGN_OR_RETURN(Side after, make_side(tuned));
  for (uint32_t i = 0; i < arguments.runs; ++i) {
    MILLRACE_RETURN_IF_ERROR(run_once(before));
    MILLRACE_RETURN_IF_ERROR(run_once(after));
  }
  return Tuning{.record = record,
                .convolutions = chosen,
                .usual_ms = median(before.milliseconds),
                .tuned_ms = median(after.milliseconds)};
}

}  // namespace millrace::cli
