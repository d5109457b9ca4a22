// Reporter: writes findings to the log and to a file. Those with the same fingerprint are written
// once, and a bounded number of each kind. Thread-safe.
#pragma once

#include <array>
#include <cstdint>
#include <mutex>
#include <set>
#include <string>

#include "base/status.h"
#include "base/unique_fd.h"
#include "check/finding.h"

namespace millrace::check {

class Reporter {
 public:
  static constexpr uint64_t kMostOfAKind = 20;

  Reporter() = default;
  Reporter(const Reporter&) = delete;
  Reporter& operator=(const Reporter&) = delete;

  // Appends findings to the file, too, from now on, after a line which says that the checker of
  // this process has started. Not thread-safe.
  Status append_to(const std::string& path);

  void report(const Finding& finding) noexcept;
  // Writes how many findings there were, if any.
  void summarise() noexcept;

 private:
  void write(const Finding& finding);
  void write_line(const std::string& line);
  std::string kinds() const;

  std::mutex mutex_;
  std::set<uint64_t> seen_;  // fingerprints of what was written
  std::array<uint64_t, kHazards> found_{}, written_{};
  UniqueFd file_;
};

}  // namespace millrace::check
