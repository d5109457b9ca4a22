// The resources that a process uses, sampled while a soak runs, and the check that their use has
// stopped growing. Linux only. Not thread-safe.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "tests/support/violations.h"

namespace millrace::soak {

struct ProcessSample {
  double seconds = 0;    // since the start of the run
  size_t resident = 0;   // bytes in RAM
  size_t allocated = 0;  // bytes that malloc has given out
  size_t descriptors = 0;
  size_t threads = 0;
};

ProcessSample sample_process(double seconds);
std::string describe(const ProcessSample& sample);

// The samples of a run. A run that lasts long enough is compared in two parts: from a quarter to
// the half of it, when everything that the library keeps has been filled, and the second half. Its
// largest values must not exceed those before by more than these bounds:
//
//   resident, allocated    an eighth and 4 MiB: what malloc keeps of freed memory varies
//   descriptors, threads   8: each worker has an event fd now and then, and lanes that hang are
//                          replaced by up to four others
class Growth {
 public:
  // Runs that are shorter are not compared: they have not filled the tables of results.
  static constexpr double kShortestRun = 240;

  void add(const ProcessSample& sample) { samples_.push_back(sample); }
  void check(test::Violations& violations) const;

 private:
  ProcessSample largest_between(double from, double to) const;

  std::vector<ProcessSample> samples_;
};

}  // namespace millrace::soak
