#include "cli/bench/remote/remote_load.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

#include "base/clock.h"
#include "base/process/thread.h"
#include "cli/bench/ideal_queue.h"
#include "cli/bench/percentiles.h"
#include "cli/bench/poisson_arrivals.h"
#include "cli/bench/remote/outcome.h"
#include "cli/bench/remote/remote_model.h"

namespace millrace::cli {
namespace {

constexpr uint64_t kMostJobs = 10'000'000;
// A request whose time is so long ago is not sent, so that a server that hangs ends the run.
constexpr int64_t kMostBehindNs = 30'000'000'000;
constexpr int64_t kLongestSleepNs = 50'000'000;
// Requests that are sent alone, and for how long.
constexpr size_t kMostAlone = 100;
constexpr int64_t kAloneNs = 1'000'000'000;
// The pause before a request is sent again: the first one, and the longest.
constexpr int64_t kFirstPauseNs = 10'000'000, kLongestPauseNs = 1'000'000'000;

Result<std::vector<int64_t>> schedule_of(const RemoteLoad& load) {
  std::vector<int64_t> schedule;
  if (load.scenario != Scenario::kServer) return schedule;
  const double seconds = static_cast<double>(load.duration_ns) * 1e-9;
  if (std::max(load.per_second * seconds, static_cast<double>(load.jobs)) > double{kMostJobs})
    return invalid_argument(fmt::format(
        "the server scenario sends at most {} requests: lower --qps, --duration or -n", kMostJobs));
  PoissonArrivals arrivals(load.per_second, load.seed);
  for (int64_t at = arrivals.next_ns();
       load.jobs > 0 ? schedule.size() < load.jobs : schedule.empty() || at < load.duration_ns;
       at = arrivals.next_ns())
    schedule.push_back(at);
  return schedule;
}

// A thread for each connection takes the next request when its last one is answered.
class Run {
 public:
  Run(const RemoteServer& server, std::span<const std::string> requests, const RemoteLoad& load,
      std::vector<int64_t> schedule)
      : requests_(requests), load_(load), schedule_(std::move(schedule)) {
    for (uint32_t i = 0; i < load.connections; ++i) connections_.push_back(connection_to(server));
  }

  // Connects, and sees whether the model takes the request.
  Status prepare() {
    MILLRACE_ASSIGN_OR_RETURN(const RemoteAnswer answer, answer_of(*connections_.front(), 0));
    if (answer.status >= 400 && answer.status < 500 && answer.status != 429)
      return invalid_argument("the server answers " + error_of(answer));
    if (load_.scenario == Scenario::kServer && load_.servers > 0) send_alone();
    for (const auto& connection : connections_) MILLRACE_RETURN_IF_ERROR(connection->connect());
    return {};
  }

  Result<RemoteRun> run() {
    std::vector<std::thread> threads;
    start_ns_ = now_ns();
    Status status;
    for (const auto& connection : connections_) {
      auto thread = start_thread("millrace-load", [this, own = connection.get()] { issue(*own); });
      if (!thread.ok()) {
        status = thread.status();
        stopped_ = true;
        break;
      }
      threads.push_back(*std::move(thread));
    }
    for (std::thread& thread : threads) thread.join();
    MILLRACE_RETURN_IF_ERROR(status);
    const int64_t end_ns = now_ns() - start_ns_;
    count_unsent(end_ns);
    run_.seconds = static_cast<double>(last_answer_ns_ > 0 ? last_answer_ns_ : end_ns) * 1e-9;
    if (!alone_ns_.empty()) run_.ideal = ideal();
    return std::move(run_);
  }

 private:
  bool is_ended() const { return stopped_ || (load_.ended != nullptr && *load_.ended); }

  bool ends(uint64_t job) const {
    if (is_ended()) return true;
    if (load_.scenario == Scenario::kServer) return job >= schedule_.size();
    if (load_.jobs > 0) return job >= load_.jobs;
    return job > 0 && now_ns() - start_ns_ >= load_.duration_ns;
  }

  // Measures how long requests take that do not wait for others.
  void send_alone() {
    const int64_t begin_ns = now_ns();
    for (size_t i = 0; i < kMostAlone && now_ns() - begin_ns < kAloneNs && !is_ended(); ++i) {
      const int64_t sent_ns = now_ns();
      const auto answer = answer_of(*connections_.front(), i);
      if (outcome_of(answer) == Outcome::kServed) alone_ns_.push_back(now_ns() - sent_ns);
    }
  }

  // Simulates the requests whose time has come.
  ServerFigures ideal() const {
    const std::span<const int64_t> arrivals(schedule_.data(), next_);
    std::vector<int64_t> services(arrivals.size());
    for (size_t i = 0; i < services.size(); ++i) services[i] = alone_ns_[i % alone_ns_.size()];
    const auto in_ms = [](const std::vector<int64_t>& times_ns) {
      std::vector<double> times;
      for (const int64_t ns : times_ns) times.push_back(static_cast<double>(ns) * 1e-6);
      return times;
    };
    ServerFigures figures{
        .per_second = load_.per_second, .seed = load_.seed, .servers = load_.servers};
    figures.service_ms = distribution_of(in_ms(alone_ns_)).median;
    if (!arrivals.empty())
      figures.ideal_p99_ms =
          distribution_of(in_ms(ideal_latencies_ns(arrivals, services, load_.servers))).p99;
    return figures;
  }

  struct Issue {
    uint64_t job;
    int64_t at_ns;
  };

  // Returns the next request, at its time; nothing if there is no other. One thread waits for the
  // next arrival, and the others for it, so that the end of the run is seen soon.
  std::optional<Issue> next_issue() {
    const std::lock_guard lock(turn_);
    if (ends(next_)) return std::nullopt;
    if (load_.scenario != Scenario::kServer) return Issue{next_++, now_ns() - start_ns_};
    const int64_t issue_ns = schedule_[next_];
    for (int64_t left = issue_ns; left > 0; left = start_ns_ + issue_ns - now_ns()) {
      sleep_until_ns(std::min(start_ns_ + issue_ns, now_ns() + kLongestSleepNs));
      if (ends(next_)) return std::nullopt;
    }
    return Issue{next_++, issue_ns};
  }

  bool is_late(const Issue& issue) const {
    return now_ns() - start_ns_ - issue.at_ns > kMostBehindNs;
  }

  void issue(RemoteConnection& connection) {
    while (const std::optional<Issue> next = next_issue()) {
      if (is_late(*next)) {
        count_late();
        continue;
      }
      const int64_t sent_ns = now_ns() - start_ns_;
      take(final_answer_of(connection, *next), next->at_ns, sent_ns);
    }
  }

  // Sends the request again, after pauses that get longer, until its answer is final.
  Result<RemoteAnswer> final_answer_of(RemoteConnection& connection, const Issue& issue) {
    auto answer = answer_of(connection, issue.job);
    int64_t pause_ns = kFirstPauseNs;
    for (uint32_t again = 0; again < load_.retries && may_change(answer); ++again) {
      pause(pause_ns);
      pause_ns = std::min(2 * pause_ns, kLongestPauseNs);
      if (is_ended() || is_late(issue)) break;
      count_retry();
      answer = answer_of(connection, issue.job);
    }
    return answer;
  }

  void pause(int64_t pause_ns) const {
    const int64_t until_ns = now_ns() + pause_ns;
    while (now_ns() < until_ns && !is_ended())
      sleep_until_ns(std::min(until_ns, now_ns() + kLongestSleepNs));
  }

  void count_retry() {
    const std::lock_guard lock(mutex_);
    ++run_.retried;
  }

  Result<RemoteAnswer> answer_of(RemoteConnection& connection, uint64_t job) const {
    try {
      return connection.answer_to(requests_[job % requests_.size()]);
    } catch (const std::bad_alloc&) {
      return Status(StatusCode::kOutOfMemory, "there is not enough memory for an answer");
    }
  }

  void count_late() {
    const std::lock_guard lock(mutex_);
    ++run_.late;
  }

  // Counts the requests whose time had come when the user ended the run.
  void count_unsent(int64_t end_ns) {
    for (; next_ < schedule_.size() && schedule_[next_] <= end_ns; ++next_) ++run_.late;
  }

  void take(const Result<RemoteAnswer>& answer, int64_t issue_ns, int64_t sent_ns) {
    const std::lock_guard lock(mutex_);
    const int64_t end_ns = now_ns() - start_ns_;
    if (answer.ok()) last_answer_ns_ = end_ns;
    // With tries again a server that is gone takes as long as one that hangs.
    stop_if_it_hangs(timed_out(answer) || (load_.retries > 0 && !answer.ok()));
    switch (outcome_of(answer)) {
      case Outcome::kServed:
        return run_.served.push_back({issue_ns, end_ns - issue_ns});
      case Outcome::kRefused:
        ++run_.refused;
        return run_.refusal_ms.push_back(static_cast<double>(end_ns - sent_ns) * 1e-6);
      case Outcome::kLate:
        ++run_.late;
        return;
      case Outcome::kFailed:
        if (run_.failed++ > 0) return;
        run_.first_failure = answer.ok() ? error_of(*answer) : answer.status().message();
    }
  }

  // Requests that are to be sent at stated times need no end: those that come too late are not
  // sent.
  void stop_if_it_hangs(bool has_timed_out) {
    timeouts_in_a_row_ = has_timed_out ? timeouts_in_a_row_ + 1 : 0;
    if (load_.scenario != Scenario::kServer && timeouts_in_a_row_ >= load_.connections)
      stopped_ = true;
  }

  const std::span<const std::string> requests_;
  const RemoteLoad& load_;
  const std::vector<int64_t> schedule_;
  std::vector<std::unique_ptr<RemoteConnection>> connections_;
  std::vector<int64_t> alone_ns_;  // of requests that were sent alone
  std::atomic<bool> stopped_ = false;
  int64_t start_ns_ = 0;
  std::mutex turn_;
  uint64_t next_ = 0;  // the next request; guarded by turn_
  std::mutex mutex_;   // guards what follows
  int64_t last_answer_ns_ = 0;
  uint32_t timeouts_in_a_row_ = 0;
  RemoteRun run_;
};

}  // namespace

Result<RemoteRun> run_remote_load(const RemoteServer& server, std::span<const std::string> requests,
                                  const RemoteLoad& load) {
  MILLRACE_ASSIGN_OR_RETURN(auto schedule, schedule_of(load));
  try {
    Run run(server, requests, load, std::move(schedule));
    MILLRACE_RETURN_IF_ERROR(run.prepare());
    return run.run();
  } catch (const std::system_error& error) {
    return Status(StatusCode::kResourceExhausted, fmt::format("there cannot be {} connections: {}",
                                                              load.connections, error.what()));
  }
}

}  // namespace millrace::cli
