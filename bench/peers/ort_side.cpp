#include "bench/peers/ort_side.h"

#include <algorithm>
#include <thread>

#include "base/clock.h"
#include "cli/bench/percentiles.h"

namespace millrace::bench {
namespace {

// The times of runs one after another, which begin within so many seconds, after one to warm up.
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

}  // namespace

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

}  // namespace millrace::bench
