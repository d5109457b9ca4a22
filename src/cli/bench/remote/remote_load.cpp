#include "cli/bench/remote/remote_load.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

#include "base/clock.h"
#include "base/process/thread.h"
#include "cli/bench/poisson_arrivals.h"
#include "cli/bench/remote/remote_model.h"

namespace millrace::cli {
namespace {

constexpr uint64_t kMostJobs = 10'000'000;

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
  Run(const RemoteServer& server, const std::string& request, const RemoteLoad& load,
      std::vector<int64_t> schedule)
      : request_(request), load_(load), schedule_(std::move(schedule)) {
    for (uint32_t i = 0; i < load.connections; ++i)
      connections_.push_back(std::make_unique<RemoteConnection>(server));
  }

  // Connects, and sees whether the model takes the request.
  Status prepare() {
    MILLRACE_ASSIGN_OR_RETURN(const RemoteAnswer answer, connections_.front()->ask(request_));
    if (answer.status >= 400 && answer.status < 500 && answer.status != 429)
      return invalid_argument("the server answers " + error_of(answer));
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
    run_.seconds = static_cast<double>(now_ns() - start_ns_) * 1e-9;
    return std::move(run_);
  }

 private:
  bool ends(uint64_t job) const {
    if (stopped_ || (load_.ended != nullptr && *load_.ended)) return true;
    if (load_.scenario == Scenario::kServer) return job >= schedule_.size();
    if (load_.jobs > 0) return job >= load_.jobs;
    return job > 0 && now_ns() - start_ns_ >= load_.duration_ns;
  }

  void issue(RemoteConnection& connection) {
    for (uint64_t job = next_++; !ends(job); job = next_++) {
      int64_t issued_ns = now_ns() - start_ns_;
      if (load_.scenario == Scenario::kServer) {
        issued_ns = schedule_[job];
        sleep_until_ns(start_ns_ + issued_ns);
      }
      const auto answer = connection.ask(request_);
      take(answer, {issued_ns, now_ns() - start_ns_ - issued_ns});
    }
  }

  void take(const Result<RemoteAnswer>& answer, const Query& query) {
    const std::lock_guard lock(mutex_);
    const unsigned status = answer.ok() ? answer->status : 0;
    const bool timed_out = !answer.ok() && answer.status().code() == StatusCode::kDeadlineExceeded;
    if (status == 200) return run_.served.push_back(query);
    if (status == 429 || status == 503) {
      ++run_.refused;
    } else if (status == 504 || timed_out) {
      ++run_.late;
    } else {
      if (run_.failed++ > 0) return;
      run_.first_failure = answer.ok() ? error_of(*answer) : answer.status().message();
    }
  }

  const std::string& request_;
  const RemoteLoad& load_;
  const std::vector<int64_t> schedule_;
  std::vector<std::unique_ptr<RemoteConnection>> connections_;
  std::atomic<uint64_t> next_ = 0;
  std::atomic<bool> stopped_ = false;
  int64_t start_ns_ = 0;
  std::mutex mutex_;
  RemoteRun run_;
};

}  // namespace

Result<RemoteRun> run_remote_load(const RemoteServer& server, const std::string& request,
                                  const RemoteLoad& load) {
  MILLRACE_ASSIGN_OR_RETURN(auto schedule, schedule_of(load));
  Run run(server, request, load, std::move(schedule));
  MILLRACE_RETURN_IF_ERROR(run.prepare());
  return run.run();
}

}  // namespace millrace::cli
