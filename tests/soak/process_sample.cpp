#include "tests/soak/process_sample.h"

#include <fmt/format.h>
#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

#include "tests/support/library_threads.h"
#include "tests/support/open_descriptors.h"

namespace millrace::soak {
namespace {

constexpr double kMebibyte = 1 << 20;

size_t resident_bytes() {
  std::ifstream file("/proc/self/statm");
  size_t all = 0, resident = 0;
  file >> all >> resident;
  return resident * static_cast<size_t>(sysconf(_SC_PAGESIZE));
}

void expect_no_growth(test::Violations& violations, const char* what, size_t before, size_t after,
                      size_t bound) {
  if (after > before + bound)
    violations.add_violation(fmt::format("{} grew from {} to {}", what, before, after));
}

}  // namespace

ProcessSample sample_process(double seconds) {
  const struct mallinfo2 heap = mallinfo2();
  return {.seconds = seconds,
          .resident = resident_bytes(),
          .allocated = heap.uordblks + heap.hblkhd,
          .descriptors = test::open_descriptors(),
          .threads = test::library_threads("")};
}

std::string describe(const ProcessSample& sample) {
  return fmt::format(
      "{:6.0f} s  resident {:6.1f} MiB  allocated {:6.1f} MiB  descriptors {:3}  "
      "threads {:3}",
      sample.seconds, static_cast<double>(sample.resident) / kMebibyte,
      static_cast<double>(sample.allocated) / kMebibyte, sample.descriptors, sample.threads);
}

ProcessSample Growth::largest_between(double from, double to) const {
  ProcessSample largest;
  for (const ProcessSample& sample : samples_) {
    if (sample.seconds < from || sample.seconds > to) continue;
    largest.resident = std::max(largest.resident, sample.resident);
    largest.allocated = std::max(largest.allocated, sample.allocated);
    largest.descriptors = std::max(largest.descriptors, sample.descriptors);
    largest.threads = std::max(largest.threads, sample.threads);
  }
  return largest;
}

void Growth::check(test::Violations& violations) const {
  const double end = samples_.empty() ? 0 : samples_.back().seconds;
  if (end < kShortestRun) return;
  const ProcessSample before = largest_between(end / 4, end / 2),
                      after = largest_between(end / 2, end);
  constexpr size_t kSlack = 4 << 20;
  expect_no_growth(violations, "resident memory", before.resident, after.resident,
                   before.resident / 8 + kSlack);
  expect_no_growth(violations, "allocated memory", before.allocated, after.allocated,
                   before.allocated / 8 + kSlack);
  expect_no_growth(violations, "the number of descriptors", before.descriptors, after.descriptors,
                   8);
  expect_no_growth(violations, "the number of threads", before.threads, after.threads, 8);
}

}  // namespace millrace::soak
