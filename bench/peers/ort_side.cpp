// Runs ONNX Runtime as a program would: sessions are called directly, and requests that arrive at
// random are served by one thread per session, each of which sleeps until the next arrival.
#include "bench/peers/ort_side.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

#include "base/clock.h"
#include "cli/bench/percentiles.h"

namespace millrace::bench {
namespace {

// Runs the session repeatedly for `seconds`, after one run to warm up, and returns the times.
Result<std::vector<double>> times_ms(OrtSession& session, double seconds) {
  MILLRACE_RETURN_IF_ERROR(session.run());
  std::vector<double> times;
  const int64_t end_ns = now_ns() + static_cast<int64_t>(seconds * 1e9);
  for (int64_t start_ns = now_ns(); times.empty() || start_ns < end_ns; start_ns = now_ns()) {
    MILLRACE_RETURN_IF_ERROR(session.run());
    times.push_back(static_cast<double>(now_ns() - start_ns) * 1e-6);
  }
  return times;
}

// The requests in the order of their arrival. Each server takes the next one, sleeps until it
// arrives, and runs it, so there is no cost of a hand-off.
class Requests {
 public:
  explicit Requests(std::span<const int64_t> arrivals_ns)
      : arrivals_ns_(arrivals_ns), latencies_ms_(arrivals_ns.size()) {}

  // Serves requests on the thread of one server until none is left.
  Status serve(OrtSession& session) {
    for (size_t i = next_++; i < arrivals_ns_.size(); i = next_++) {
      const int64_t arrival_ns = start_ns_ + arrivals_ns_[i];
      sleep_until_ns(arrival_ns);
      MILLRACE_RETURN_IF_ERROR(session.run());
      latencies_ms_[i] = static_cast<double>(now_ns() - arrival_ns) * 1e-6;
    }
    return {};
  }

  // Requirement: all requests have been served.
  double p99_ms() const { return cli::distribution_of(latencies_ms_).p99; }

 private:
  const std::span<const int64_t> arrivals_ns_;
  const int64_t start_ns_ = now_ns() + 5'000'000;  // 5 ms from now, for all servers to start
  std::atomic<size_t> next_ = 0;
  std::vector<double> latencies_ms_;  // element i is written by the server of request i
};

}  // namespace

void let_threads_sleep() {
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
}

Result<OrtSide::Instance> OrtSide::make(const OrtLibrary& library, const std::string& onnx_bytes,
                                        const MillraceSide& ours, uint32_t threads) {
  Instance instance;
  instance.outputs = ours.outputs_in(instance.memory);
  MILLRACE_ASSIGN_OR_RETURN(instance.session, OrtSession::create(library, onnx_bytes, threads,
                                                                 ours.inputs(), instance.outputs));
  return instance;
}

Result<OrtSide> OrtSide::create(const OrtLibrary& library, const std::string& onnx_bytes,
                                const MillraceSide& ours, uint32_t threads) {
  OrtSide side;
  MILLRACE_ASSIGN_OR_RETURN(side.whole_, make(library, onnx_bytes, ours, threads));
  for (uint32_t i = 0; threads > 1 && i < threads; ++i) {
    MILLRACE_ASSIGN_OR_RETURN(Instance single, make(library, onnx_bytes, ours, 1));
    side.singles_.push_back(std::move(single));
  }
  return side;
}

Result<double> OrtSide::latency_ms(double seconds) {
  MILLRACE_ASSIGN_OR_RETURN(const auto times, times_ms(*whole_.session, seconds));
  return cli::distribution_of(times).median;
}

Result<double> OrtSide::throughput_ms(double seconds) {
  MILLRACE_ASSIGN_OR_RETURN(const auto alone, times_ms(*whole_.session, seconds));
  const double whole = cli::distribution_of(alone).mean;
  if (singles_.empty()) return whole;
  let_threads_sleep();
  std::vector<Result<std::vector<double>>> times(singles_.size(), std::vector<double>());
  std::vector<std::thread> threads;
  for (size_t i = 0; i < singles_.size(); ++i)
    threads.emplace_back([&, i] { times[i] = times_ms(*singles_[i].session, seconds); });
  for (std::thread& thread : threads) thread.join();
  double frames_per_ms = 0;
  for (const auto& one : times) {
    MILLRACE_RETURN_IF_ERROR(one.status());
    frames_per_ms += 1 / cli::distribution_of(*one).mean;
  }
  return std::min(whole, 1 / frames_per_ms);
}

Result<double> OrtSide::server_p99_ms(std::span<const int64_t> arrivals_ns) {
  MILLRACE_ASSIGN_OR_RETURN(const double whole, p99_ms({&whole_, 1}, arrivals_ns));
  if (singles_.empty()) return whole;
  let_threads_sleep();
  MILLRACE_ASSIGN_OR_RETURN(const double singles, p99_ms(singles_, arrivals_ns));
  return std::min(whole, singles);
}

Result<double> OrtSide::p99_ms(std::span<const Instance> servers,
                               std::span<const int64_t> arrivals_ns) {
  for (const Instance& server : servers) MILLRACE_RETURN_IF_ERROR(server.session->run());
  Requests requests(arrivals_ns);
  std::vector<Status> ends(servers.size());
  std::vector<std::thread> threads;
  for (size_t i = 0; i < servers.size(); ++i)
    threads.emplace_back([&, i] { ends[i] = requests.serve(*servers[i].session); });
  for (std::thread& thread : threads) thread.join();
  for (const Status& end : ends) MILLRACE_RETURN_IF_ERROR(end);
  return requests.p99_ms();
}

}  // namespace millrace::bench
