#include "bench/peers/comparison.h"

#include <fmt/format.h>

#include <functional>
#include <utility>

#include "bench/peers/millrace_side.h"
#include "bench/peers/ort/model_bytes.h"
#include "bench/peers/ort_side.h"
#include "cli/bench/percentiles.h"

namespace millrace::bench {
namespace {

// Runs a block and returns the milliseconds per frame.
using Block = std::function<Result<double>()>;

// Alternates blocks of both sides. In each round Millrace's block runs first.
Result<ComparisonRow> alternate(const std::string& what, uint32_t rounds, const Block& theirs,
                                const Block& ours) {
  std::vector<double> their_times, our_times, ratios;
  for (uint32_t round = 0; round < rounds; ++round) {
    let_threads_sleep();
    MILLRACE_ASSIGN_OR_RETURN(const double our_ms, ours());
    let_threads_sleep();
    MILLRACE_ASSIGN_OR_RETURN(const double their_ms, theirs());
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

// Compares the 99th percentiles of the latency. The random arrival times differ from round to
// round, and are the same for both sides.
Result<ComparisonRow> compare_servers(const MillraceSide& ours, OrtSide& theirs,
                                      const ComparisonPlan& plan, double per_second,
                                      const std::string& what) {
  cli::ServerLoad load{.per_second = per_second, .seed = 0};
  std::vector<int64_t> arrivals_ns;
  const Block serve_ours = [&]() -> Result<double> {
    ++load.seed;
    MILLRACE_ASSIGN_OR_RETURN(Served served, ours.serve(load, plan.server_seconds));
    arrivals_ns = std::move(served.arrivals_ns);
    return served.p99_ms;
  };
  const Block serve_theirs = [&] { return theirs.server_p99_ms(arrivals_ns); };
  return alternate(what, plan.rounds, serve_theirs, serve_ours);
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
  if (threads == 1 || !plan.throughput) return {};
  MILLRACE_ASSIGN_OR_RETURN(
      ComparisonRow offline,
      alternate(
          "throughput, " + unit, plan.rounds, [&] { return theirs.throughput_ms(plan.seconds); },
          [&] { return ours.throughput_ms(plan.seconds); }));
  offline.difference = latency.difference;
  rows.push_back(offline);
  for (const uint32_t percent : plan.server_percent) {
    const double per_second = percent / 100.0 * 1e3 / offline.ours_ms;
    const std::string what =
        fmt::format("p99 at {:.0f} per second, {} %, {}", per_second, percent, unit);
    MILLRACE_ASSIGN_OR_RETURN(ComparisonRow server,
                              compare_servers(ours, theirs, plan, per_second, what));
    server.difference = latency.difference;
    rows.push_back(server);
  }
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
