#include "bench/peers/comparison.h"

#include <fmt/format.h>

#include <chrono>
#include <functional>
#include <thread>

#include "bench/peers/millrace_side.h"
#include "bench/peers/ort/model_bytes.h"
#include "bench/peers/ort_side.h"
#include "cli/bench/percentiles.h"

namespace millrace::bench {
namespace {

// Milliseconds per frame of a block of runs.
using Block = std::function<Result<double>()>;

// The threads of the side that has just run spin for a while before they sleep.
void let_threads_sleep() {
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
}

Result<ComparisonRow> alternate(const std::string& what, uint32_t rounds, const Block& theirs,
                                const Block& ours) {
  std::vector<double> their_times, our_times, ratios;
  for (uint32_t round = 0; round < rounds; ++round) {
    let_threads_sleep();
    MILLRACE_ASSIGN_OR_RETURN(const double their_ms, theirs());
    let_threads_sleep();
    MILLRACE_ASSIGN_OR_RETURN(const double our_ms, ours());
    their_times.push_back(their_ms);
    our_times.push_back(our_ms);
    ratios.push_back(their_ms / our_ms);
  }
  ComparisonRow row;
  row.what = what;
  row.theirs_ms = cli::distribution_of(their_times).median;
  row.ours_ms = cli::distribution_of(our_times).median;
  row.ratio = cli::distribution_of(ratios).median;
  return row;
}

Status compare_with(const OrtLibrary& library, const std::string& onnx, const ComparisonPlan& plan,
                    uint32_t threads, std::vector<ComparisonRow>& rows) {
  MILLRACE_ASSIGN_OR_RETURN(const std::string bytes, model_bytes(onnx));
  MILLRACE_ASSIGN_OR_RETURN(const MillraceSide ours,
                            MillraceSide::create(onnx, plan.flags, threads));
  MILLRACE_ASSIGN_OR_RETURN(OrtSide theirs, OrtSide::create(library, bytes, ours, threads));
  const std::string unit = fmt::format("{} thread{}", threads, threads == 1 ? "" : "s");
  MILLRACE_ASSIGN_OR_RETURN(
      ComparisonRow latency,
      alternate(
          "latency, " + unit, plan.rounds, [&] { return theirs.latency_ms(plan.seconds); },
          [&] { return ours.latency_ms(plan.seconds); }));
  latency.difference = ours.difference_from(theirs.outputs());
  rows.push_back(latency);
  if (!plan.throughput || threads == 1) return {};
  MILLRACE_ASSIGN_OR_RETURN(
      ComparisonRow offline,
      alternate(
          "throughput, " + unit, plan.rounds, [&] { return theirs.throughput_ms(plan.seconds); },
          [&] { return ours.throughput_ms(plan.seconds); }));
  offline.difference = latency.difference;
  rows.push_back(offline);
  return {};
}

}  // namespace

Result<std::vector<ComparisonRow>> compare(const OrtLibrary& library, const std::string& onnx,
                                           const ComparisonPlan& plan) {
  std::vector<ComparisonRow> rows;
  for (const uint32_t threads : plan.threads)
    MILLRACE_RETURN_IF_ERROR(compare_with(library, onnx, plan, threads, rows));
  return rows;
}

}  // namespace millrace::bench
