// The cosine similarity is computed per sample and output, and averaged over samples; the SNR is
// computed per output, with signal and noise summed over all samples.
#include "quantise/measure/output_agreement.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include "quantise/calibrate/program_runner.h"
#include "quantise/measure/difference.h"
#include "quantise/measure/scores.h"

namespace millrace::quantise {
namespace {

using Outputs = std::vector<std::vector<float>>;

// The least number of runs that are timed. The first runs of a program are slow, since they touch
// its memory for the first time, so the least time should come from a later run.
constexpr size_t kTimedRuns = 4;

// Returns the cosine similarity of the output that agrees least; 0 if it is NaN.
double cosine_of(const Outputs& exact, const Outputs& approximate) {
  double worst = 1;
  for (size_t i = 0; i < exact.size(); ++i) {
    Difference difference;
    difference.add(exact[i], approximate[i]);
    const double cosine = difference.cosine();
    if (std::isnan(cosine)) return 0;
    worst = std::min(worst, cosine);
  }
  return worst;
}

// Repeats the samples until there were at least kTimedRuns runs; the first pass is done already.
Status run_for_times(ProgramRunner& runner, std::span<const Sample> samples) {
  const auto ignore = [](size_t, ProgramRunner::Outputs) { return Status(); };
  for (size_t runs = samples.size(); runs != 0 && runs < kTimedRuns; runs += samples.size())
    MILLRACE_RETURN_IF_ERROR(runner.run(samples, ignore));
  return {};
}

// Adds the times and the precision of the program.
void add_facts(const ProgramRunner& runner, OutputRun& run) {
  const device::ProgramInfo info = runner.program().info();
  const runtime::ProfileTotals times = runner.times();
  for (size_t i = 0; i < info.steps.size() && i < times.steps.size(); ++i) {
    const double ms = static_cast<double>(times.steps[i].min_ns) * 1e-6;
    run.node_ms[info.steps[i].node] += ms;
    run.total_ms += ms;
    if (info.steps[i].precision == graph::Precision::kBf16) run.in_bf16 = true;
  }
  run.note = info.note;
}

// Returns the SNR in dB, over all samples, of the output that agrees least; NaN if one is NaN.
double snr_of(const OutputValues& exact, const OutputValues& approximate) {
  double worst = std::numeric_limits<double>::infinity();
  const size_t outputs = exact.empty() ? 0 : exact[0].size();
  for (size_t i = 0; i < outputs; ++i) {
    Difference difference;
    for (size_t sample = 0; sample < exact.size(); ++sample)
      difference.add(exact[sample][i], approximate[sample][i]);
    const double snr_db = difference.snr_db();
    if (std::isnan(snr_db)) return snr_db;
    worst = std::min(worst, snr_db);
  }
  return worst;
}

}  // namespace

Result<OutputRun> run_outputs(const graph::CompiledModel& model, std::span<const Sample> samples) {
  MILLRACE_ASSIGN_OR_RETURN(
      ProgramRunner runner,
      ProgramRunner::load(std::make_shared<const graph::CompiledModel>(model)));
  OutputRun run;
  run.values.assign(samples.size(), Outputs(model.outputs.size()));
  MILLRACE_RETURN_IF_ERROR(
      runner.run(samples, [&](size_t sample, ProgramRunner::Outputs data) -> Status {
        for (size_t i = 0; i < data.size(); ++i) {
          const tensor::TensorDesc& output = model.outputs[i].cpu;
          if (output.type != tensor::DataType::kFloat32) continue;
          const auto* floats = reinterpret_cast<const float*>(data[i]);
          run.values[sample][i].assign(floats, floats + output.elements());
        }
        return {};
      }));
  MILLRACE_RETURN_IF_ERROR(run_for_times(runner, samples));
  add_facts(runner, run);
  return run;
}

double OutputAgreement::error() const noexcept {
  double error = 1 - mean_cosine;
  if (same_top1 && samples > 0)
    error =
        std::max(error, static_cast<double>(samples - *same_top1) / static_cast<double>(samples));
  return error;
}

OutputAgreement compare_outputs(const OutputValues& exact, const OutputValues& approximate,
                                bool is_classifier) {
  OutputAgreement agreement;
  agreement.samples = exact.size();
  if (is_classifier && !exact.empty() && !exact[0][0].empty()) agreement.same_top1 = 0;
  double sum = 0;
  for (size_t sample = 0; sample < exact.size(); ++sample) {
    const double cosine = cosine_of(exact[sample], approximate[sample]);
    sum += cosine;
    agreement.worst_cosine = std::min(agreement.worst_cosine, cosine);
    if (agreement.same_top1 && best_class(exact[sample][0]) == best_class(approximate[sample][0]))
      ++*agreement.same_top1;
  }
  agreement.snr_db = snr_of(exact, approximate);
  if (!exact.empty()) agreement.mean_cosine = sum / static_cast<double>(exact.size());
  return agreement;
}

}  // namespace millrace::quantise
