// Measures on samples how well the outputs of a program agree with those of the floating point
// program: cosine similarity, SNR and, for classifiers, the top-1 class.
#pragma once

#include <cstddef>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "graph/compiled_model.h"
#include "quantise/calibrate/sample.h"

namespace millrace::quantise {

// The FLOAT32 outputs of a program for each sample; those of other types are left empty.
using OutputValues = std::vector<std::vector<std::vector<float>>>;  // [sample][output][element]

struct OutputRun {
  OutputValues values;
  // The least time of each step over all runs, in ms: summed by the name of the step's node, which
  // is empty for steps that the device added, and over all steps.
  std::map<std::string, double> node_ms;
  double total_ms = 0;
  bool in_bf16 = false;  // whether a step computes in BF16
  std::string note;      // device::ProgramInfo::note: why the precision is not the model's
};

// Runs the model on the samples on the CPU device. With fewer than four samples, these are run
// again for the times. Errors are those of ProgramRunner.
Result<OutputRun> run_outputs(const graph::CompiledModel& model, std::span<const Sample> samples);

// Per sample, the cosine similarity is that of the output that agrees least; 0 if it has a NaN.
struct OutputAgreement {
  double mean_cosine = 1;                                   // over samples
  double worst_cosine = 1;                                  // over samples
  double snr_db = std::numeric_limits<double>::infinity();  // over samples, of the worst output
  size_t samples = 0;
  // Samples with the same top-1 class; present if the model is a classifier with FLOAT32 scores.
  std::optional<size_t> same_top1;

  // 1 - mean_cosine or, if that is greater, the share of samples with another top-1 class.
  double error() const noexcept;
};

// Compares the outputs of two programs. Requirement: both ran on the same samples, and their
// outputs have the same shapes.
OutputAgreement compare_outputs(const OutputValues& exact, const OutputValues& approximate,
                                bool is_classifier);

}  // namespace millrace::quantise
