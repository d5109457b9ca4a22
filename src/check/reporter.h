// Reporter: writes findings to the log and to a file, and keeps them. Those with the same
// fingerprint are occurrences of one finding, which is written once; of each kind a bounded number
// is written. Thread-safe.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "base/unique_fd.h"
#include "check/finding.h"

namespace millrace::check {

// A finding, and how often it has occurred.
struct Found {
  Finding finding;
  uint64_t occurrences = 0;
};

class Reporter {
 public:
  static constexpr uint64_t kMostOfAKind = 20;
  // Further findings cannot be told apart: only their occurrences are counted.
  static constexpr size_t kMostFindings = 4096;

  Reporter() = default;
  Reporter(const Reporter&) = delete;
  Reporter& operator=(const Reporter&) = delete;

  // Appends findings to the file, too, from now on, after a line which says that the checker of
  // this process has started. Not thread-safe.
  Status append_to(const std::string& path);
  // Writes findings to standard error where there is no log. Not thread-safe.
  void show_without_log() noexcept { shown_without_log_ = true; }

  // Counts an occurrence, and returns whether the finding is to be written.
  bool count(const Finding& finding);
  // Writes a finding that has been counted. Names of calls take much stack.
  void write(const Finding& finding) noexcept;
  // Returns the findings that were written, in their order. Throws std::bad_alloc.
  std::vector<Found> findings() const;
  // Writes how many findings there were, if any, and to the file that the checker has ended.
  // `not_looked_for` names a kind that this run could not show; empty: none.
  void summarise(std::string_view not_looked_for) noexcept;

 private:
  struct Count {
    uint64_t findings = 0, occurrences = 0;
  };

  void write_line(const std::string& line);
  void say(std::string_view line) const;
  Count sum() const;
  std::string kinds() const;
  std::string ended_line(std::string_view not_looked_for) const;

  static constexpr size_t kNotKept = ~size_t{0};

  std::mutex writing_;  // held while a finding is written, so that its lines are together
  UniqueFd file_;
  bool shown_without_log_ = false;

  mutable std::mutex mutex_;         // guards what follows
  std::map<uint64_t, size_t> seen_;  // of each fingerprint the place in kept_, or kNotKept
  std::vector<Found> kept_;
  std::array<Count, kHazards> counts_{};
};

}  // namespace millrace::check
