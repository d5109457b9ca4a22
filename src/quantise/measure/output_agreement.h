// How well the outputs of a program agree with those of the floating point program, on samples.
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
  // The least time that one run of each node has taken, by its name, with the conversions that the
  // device added for it; and of all of them together.
  std::map<std::string, double> node_ms;
  double total_ms = 0;
  bool in_bf16 = false;  // whether a step computes in BF16
  std::string note;      // what the device says of the program's precision (device::ProgramInfo)
};

Result<OutputRun> run_outputs(const graph::CompiledModel& model, std::span<const Sample> samples);

struct OutputAgreement {
  double mean_cosine = 1;   // over samples, of the output that agrees least
  double worst_cosine = 1;  // of the sample that agrees least
  double snr_db = std::numeric_limits<double>::infinity();  // over samples, of the worst output
  size_t samples = 0;
  // Samples with the same greatest element, where the only output has one number per class.
  std::optional<size_t> same_top1;

  // 1 - mean_cosine, or the share of samples with another greatest element if that is more.
  double error() const noexcept;
};

// Requirement: both are of the same samples and have the same shapes.
OutputAgreement compare_outputs(const OutputValues& exact, const OutputValues& approximate,
                                bool is_classifier);

}  // namespace millrace::quantise
