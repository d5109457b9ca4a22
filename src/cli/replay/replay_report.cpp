#include "cli/replay/replay_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/print_escaped.h"
#include "cli/report/json_text.h"

namespace millrace::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kMostLines = 20;  // about single jobs, as text

struct Counts {
  size_t equal = 0, different = 0, other = 0;
};

Counts count(const std::vector<JobOutcome>& outcomes) {
  Counts counts;
  for (const JobOutcome& outcome : outcomes)
    ++(outcome.differs() ? counts.different : outcome.equals() ? counts.equal : counts.other);
  return counts;
}

std::string recorded_status(const JobOutcome& outcome) {
  return outcome.job->status.empty() ? "not completed" : outcome.job->status;
}

bool has_another_status(const JobOutcome& outcome) {
  return outcome.job->status != to_string(outcome.status.code());
}

std::vector<std::string> lines_about(const JobOutcome& outcome) {
  const std::string job = fmt::format("job {} of {}: ", outcome.job->name(), outcome.model);
  if (has_another_status(outcome))
    return {fmt::format("{}recorded {}, now {}", job, recorded_status(outcome),
                        outcome.status.ok() ? "OK" : outcome.status.to_string())};
  std::vector<std::string> lines;
  for (const OutputDifference& difference : outcome.differences)
    lines.push_back(
        fmt::format("{}output {}, frame {}: {} of {} elements differ, by {:.6g} at most", job,
                    difference.tensor, difference.frame, difference.different, difference.elements,
                    difference.greatest));
  return lines;
}

Json json_of(const JobOutcome& outcome) {
  Json json = {{"job", outcome.job->name()},
               {"number", outcome.job->number},
               {"model", outcome.model},
               {"recorded_status", recorded_status(outcome)},
               {"status", std::string(to_string(outcome.status.code()))}};
  if (!outcome.status.ok()) json["message"] = outcome.status.message();
  json["compared_outputs"] = outcome.compared;
  json["different"] = outcome.differs();
  json["differences"] = Json::array();
  for (const OutputDifference& difference : outcome.differences)
    json["differences"].push_back({{"output", difference.tensor},
                                   {"frame", difference.frame},
                                   {"elements", difference.elements},
                                   {"different", difference.different},
                                   {"greatest", difference.greatest}});
  return json;
}

}  // namespace

void print_replay_text(const Recording& recording, const std::vector<JobOutcome>& outcomes) {
  std::vector<std::string> lines;
  for (const JobOutcome& outcome : outcomes)
    for (std::string& line : lines_about(outcome)) lines.push_back(std::move(line));
  for (size_t i = 0; i < std::min(lines.size(), kMostLines); ++i) print_escaped("{}\n", lines[i]);
  if (lines.size() > kMostLines) print_escaped("and {} more lines\n", lines.size() - kMostLines);
  if (!recording.ended.empty()) print_escaped("the recording had ended: {}\n", recording.ended);
  if (recording.not_started != 0)
    print_escaped("{} more jobs had not started, and are not run\n", recording.not_started);
  const Counts counts = count(outcomes);
  print_escaped("{} jobs: {} equal, {} different, {} not compared\n", outcomes.size(), counts.equal,
                counts.different, counts.other);
}

void print_replay_json(const Recording& recording, const std::vector<JobOutcome>& outcomes) {
  const Counts counts = count(outcomes);
  Json json = {{"jobs", outcomes.size()},
               {"equal", counts.equal},
               {"different", counts.different},
               {"not_compared", counts.other},
               {"not_started", recording.not_started},
               {"ended", recording.ended}};
  json["outcomes"] = Json::array();
  for (const JobOutcome& outcome : outcomes) json["outcomes"].push_back(json_of(outcome));
  print_escaped_lines(json_lines(std::move(json)));
}

}  // namespace millrace::cli
