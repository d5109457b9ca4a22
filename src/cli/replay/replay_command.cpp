// `millrace replay`: runs the jobs of a record again, in the order in which they were submitted,
// and compares their outputs with the recorded ones. Jobs are independent of each other, since each
// has the inputs that it had. As many are in flight as there were, up to a limit.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <utility>

#include "cli/commands.h"
#include "cli/replay/recording.h"
#include "cli/replay/replay_report.h"
#include "cli/replay/replayed_job.h"
#include "device/registry.h"
#include "runtime/loading/loader.h"
#include "runtime/session.h"

namespace millrace::cli {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using std::chrono::steady_clock;

constexpr size_t kMostInFlight = 64;  // the memory for their tensors is bounded thereby
constexpr uint32_t kSeed = 1;

class Player {
 public:
  Player(const Recording& recording, const ReplayArguments& arguments)
      : recording_(recording),
        arguments_(arguments),
        timeout_(static_cast<int64_t>(arguments.timeout_seconds * 1e9)),
        most_in_flight_(std::min(recording.most_in_flight, kMostInFlight)) {}

  Status load();
  Result<std::vector<JobOutcome>> play();

 private:
  struct Flight {
    ReplayedJob job;
    runtime::SessionJobId id;
  };

  runtime::Session& session_of(const RecordedJob& job) { return *sessions_[job.model]; }
  Result<std::unique_ptr<runtime::Session>> load(const RecordedModel& model);
  Status submit(const RecordedJob& job);
  Status finish_first();
  Status compare(ReplayedJob& replayed, JobOutcome& outcome) const;

  const Recording& recording_;
  const ReplayArguments& arguments_;
  const nanoseconds timeout_;
  const size_t most_in_flight_;
  std::mt19937 random_{kSeed};
  std::shared_ptr<device::Device> device_;
  std::deque<Flight> flights_;                               // outlived by the sessions' jobs
  std::vector<std::shared_ptr<runtime::Session>> sessions_;  // by model; closed first
  std::vector<JobOutcome> outcomes_;
};

// Loads each model that a job needs, once, however often the program had loaded it.
Status Player::load() {
  MILLRACE_ASSIGN_OR_RETURN(device_, device::open_device_of_program(arguments_.device));
  sessions_.resize(recording_.models.size());
  std::map<std::pair<std::string, std::string>, std::shared_ptr<runtime::Session>> loaded;
  for (const RecordedJob& job : recording_.jobs) {
    if (sessions_[job.model] != nullptr) continue;
    const RecordedModel& model = recording_.models[job.model];
    std::shared_ptr<runtime::Session>& session = loaded[{model.archive, model.profile}];
    if (session == nullptr) {
      MILLRACE_ASSIGN_OR_RETURN(session, load(model));
    }
    sessions_[job.model] = session;
  }
  return {};
}

Result<std::unique_ptr<runtime::Session>> Player::load(const RecordedModel& model) {
  MILLRACE_ASSIGN_OR_RETURN(const std::string path, path_within(recording_.folder, model.archive));
  MILLRACE_ASSIGN_OR_RETURN(auto program, runtime::load_program(path, *device_, 0, model.profile));
  runtime::SessionOptions options;
  options.max_concurrent_runs = static_cast<uint32_t>(most_in_flight_);
  options.watchdog = timeout_;
  return runtime::Session::create(device_, std::move(program), options);
}

Status Player::submit(const RecordedJob& job) {
  runtime::Session& session = session_of(job);
  MILLRACE_ASSIGN_OR_RETURN(ReplayedJob replayed,
                            ReplayedJob::make(recording_, job, session.model(), random_));
  const Result<runtime::SessionJobId> id = session.submit(replayed.bindings());
  if (!id.ok()) return id.status().with_context(fmt::format("job {}", job.name()));
  flights_.push_back({std::move(replayed), *id});
  return {};
}

Status Player::finish_first() {
  Flight& flight = flights_.front();
  const RecordedJob& job = flight.job.job();
  JobOutcome outcome;
  outcome.job = &job;
  outcome.model = session_of(job).model().name;
  // The watchdog gives a job up that makes no progress, so this ends.
  do {
    outcome.status = session_of(job).wait(flight.id, milliseconds(1000));
  } while (outcome.status.code() == StatusCode::kPending);
  if (outcome.status.ok()) MILLRACE_RETURN_IF_ERROR(compare(flight.job, outcome));
  outcomes_.push_back(std::move(outcome));
  flights_.pop_front();
  return {};
}

Status Player::compare(ReplayedJob& replayed, JobOutcome& outcome) const {
  const RecordedJob& job = *outcome.job;
  std::optional<Tolerances> tolerances;
  if (arguments_.relative_tolerance || arguments_.absolute_tolerance)
    tolerances = {.steps = {},
                  .relative = arguments_.relative_tolerance,
                  .absolute = arguments_.absolute_tolerance,
                  .cosine = {}};
  replayed.settle_outputs();
  for (size_t i = 0; i < job.results.size(); ++i) {
    const RecordedTensor& recorded = job.results[i];
    if (recorded.file.empty()) continue;
    const auto ours = replayed.output(i);
    if (!replayed.boundary(i).open && recorded.bytes != ours.size())
      return corrupt_data(fmt::format("job {}: output \"{}\" has {} bytes, and in the model {}",
                                      job.name(), recorded.name, recorded.bytes, ours.size()));
    MILLRACE_ASSIGN_OR_RETURN(const auto bytes, bytes_of(recording_.folder, recorded));
    ++outcome.compared;
    MILLRACE_ASSIGN_OR_RETURN(
        auto difference,
        compare_output(replayed.boundary(i), job.outputs[i].view, ours, bytes, tolerances));
    if (!difference) continue;
    difference->frame = i / (job.results.size() / job.frames);
    outcome.differences.push_back(*std::move(difference));
  }
  return {};
}

Result<std::vector<JobOutcome>> Player::play() {
  const auto began = steady_clock::now();
  for (const RecordedJob& job : recording_.jobs) {
    if (flights_.size() >= most_in_flight_) MILLRACE_RETURN_IF_ERROR(finish_first());
    const nanoseconds since(job.submitted_ns - recording_.jobs.front().submitted_ns);
    if (arguments_.in_time) std::this_thread::sleep_until(began + since);
    MILLRACE_RETURN_IF_ERROR(submit(job));
  }
  while (!flights_.empty()) MILLRACE_RETURN_IF_ERROR(finish_first());
  return std::move(outcomes_);
}

}  // namespace

Result<int> run_replay(const ReplayArguments& arguments) {
  MILLRACE_ASSIGN_OR_RETURN(const Recording recording, read_recording(arguments.folder));
  Player player(recording, arguments);
  MILLRACE_RETURN_IF_ERROR(player.load());
  MILLRACE_ASSIGN_OR_RETURN(const std::vector<JobOutcome> outcomes, player.play());
  const auto print = arguments.json ? print_replay_json : print_replay_text;
  print(recording, outcomes);
  return std::ranges::any_of(outcomes, &JobOutcome::differs) ? kDifferent : 0;
}

}  // namespace millrace::cli
