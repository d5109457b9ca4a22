// Prints the report of `millrace replay`, as text or JSON. One thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/status.h"
#include "cli/replay/output_comparison.h"
#include "cli/replay/recording.h"

namespace millrace::cli {

struct JobOutcome {
  const RecordedJob* job = nullptr;
  std::string model;
  Status status;                              // of the job that ran again
  size_t compared = 0;                        // outputs of which the record has the bytes
  std::vector<OutputDifference> differences;  // beyond the tolerances

  // A job that had succeeded must succeed again. One that had failed, or had not ended, may end as
  // it likes: what made it fail, such as a deadline or a fault, is not in the record.
  bool differs() const { return job->succeeded() && (!status.ok() || !differences.empty()); }
  bool equals() const { return !differs() && job->succeeded() && compared != 0; }
};

void print_replay_text(const Recording& recording, const std::vector<JobOutcome>& outcomes);
void print_replay_json(const Recording& recording, const std::vector<JobOutcome>& outcomes);

}  // namespace millrace::cli
