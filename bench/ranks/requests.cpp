// Both ranks are cores of this process. The caller schedules all requests of rank 0 before those of
// rank 1, so that no collective runs while it is timed.
#include "bench/ranks/requests.h"

#include <fmt/format.h>

#include <memory>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "bench/median.h"
#include "bench/queue/placement.h"
#include "bench/ranks/rank_tensor.h"
#include "cli/bench/allocation_trace.h"

namespace millrace::bench {
namespace {

constexpr int kBurst = 256;

// A burst of all-reduces. Rank 0 prepares and schedules all of them before rank 1 does, so they
// wait for rank 1 while the caller is timed.
class Burst {
 public:
  Burst() : own_(0, kBytes), other_(1, kBytes), contexts_(kBurst), other_contexts_(kBurst) {}

  void prepare() {
    const int64_t begin = now_ns();
    for (nrt_cc_context_t*& context : contexts_) context = own_.prepare();
    prepare_ns_.push_back(static_cast<double>(now_ns() - begin) / kBurst);
    for (nrt_cc_context_t*& context : other_contexts_) context = other_.prepare();
  }
  void run() {
    const int64_t begin = now_ns();
    nrta_seq_t last = 0;
    for (nrt_cc_context_t* const context : contexts_) last = RankTensor::schedule(context, &ret_);
    schedule_ns_.push_back(static_cast<double>(now_ns() - begin) / kBurst);
    for (nrt_cc_context_t* const context : other_contexts_)
      RankTensor::schedule(context, &other_ret_);
    await(last);
    expect_success(ret_, "an all-reduce");
  }

  double prepare_ns() const { return median(prepare_ns_); }
  double schedule_ns() const { return median(schedule_ns_); }

 private:
  static constexpr size_t kBytes = 4096;

  RankTensor own_, other_;
  std::vector<nrt_cc_context_t*> contexts_, other_contexts_;
  std::vector<double> prepare_ns_, schedule_ns_;
  NRT_STATUS ret_ = NRT_SUCCESS, other_ret_ = NRT_SUCCESS;
};

// Runs `body` once more, and prints its allocations per request, over the requests of both ranks.
template <class Body>
void report_allocations(std::string_view what, Body&& body) {
  cli::AllocationTrace::start();
  body();
  const std::vector<cli::LibraryAllocations> libraries = cli::AllocationTrace::stop();
  fmt::print("  {}, allocations per request:{}\n", what, libraries.empty() ? " none" : "");
  for (const cli::LibraryAllocations& one : libraries)
    fmt::print("    {} {:.4g} ({:.0f} B)\n", one.library,
               static_cast<double>(one.count) / (kFaceRanks * kBurst),
               static_cast<double>(one.bytes) / (kFaceRanks * kBurst));
}

template <class Body>
double milliseconds(Body&& body) {
  const int64_t begin = now_ns();
  body();
  return static_cast<double>(now_ns() - begin) * 1e-6;
}

template <class Body>
double milliseconds_alone(Body&& body) {
  std::vector<double> times;
  for (int i = 0; i < 15; ++i) times.push_back(milliseconds(body));
  return median(times);
}

// Executions and all-reduces whose times are injected delays.
class Loop {
 public:
  Loop()
      : face_(with_two_ranks({{"MILLRACE_DEVICE", "null"},
                              {"MILLRACE_FAULTS", "slow=9ms"},
                              {"MILLRACE_COLLECTIVE_FAULTS", "slow=6ms"}}),
              tanh_model(16, 1)),
        slot_(face_),
        own_(0, kBytes),
        other_(1, kBytes) {
    join_both_ranks();
  }

  nrta_seq_t execute() {
    nrta_seq_t sequence = 0;
    expect_success(
        nrta_execute_schedule(face_.model(), slot_.inputs, slot_.outputs, 0, &executed_, &sequence),
        "nrta_execute_schedule");
    return sequence;
  }
  // Schedules an all-reduce on both ranks; returns the sequence id on rank 0.
  nrta_seq_t all_reduce() {
    other_.all_reduce(&other_ret_);
    return own_.all_reduce(&reduced_);
  }
  // Runs each execution concurrently with the all-reduce of the previous one.
  void run_overlapped(int items) {
    await(execute());
    for (int item = 1; item < items; ++item) {
      const nrta_seq_t computed = execute(), reduced = all_reduce();
      await(computed);
      await(reduced);
    }
    await(all_reduce());
    expect_success(executed_, "the last execution");
    expect_success(reduced_, "the last all-reduce");
  }

 private:
  static constexpr size_t kBytes = 4096;

  const Face face_;
  const Slot slot_;
  RankTensor own_, other_;
  NRT_STATUS executed_ = NRT_FAILURE, reduced_ = NRT_FAILURE, other_ret_ = NRT_FAILURE;
};

}  // namespace

void report_requests() {
  Placement placement;  // threads of Millrace run on another core than the caller
  const auto face = placement.make<Face>(
      with_two_ranks({{"MILLRACE_DEVICE", "null"}, {"MILLRACE_NRT_COLLECTIVES_DEPTH", "4096"}}),
      tanh_model(16, 1));
  placement.elsewhere([] { return join_both_ranks(), 0; });
  Burst burst;
  constexpr int kRounds = 40;
  for (int round = 0; round < kRounds; ++round) {
    burst.prepare();
    burst.run();
  }
  fmt::print("\nall-reduces of 4 KiB at the NRT face, medians of {} bursts of {}\n", kRounds,
             kBurst);
  fmt::print("  nrta_cc_prepare {:.0f} ns, nrta_cc_schedule {:.0f} ns (target 300)\n",
             burst.prepare_ns(), burst.schedule_ns());
  report_allocations("nrta_cc_prepare", [&] { burst.prepare(); });
  report_allocations("nrta_cc_schedule and the run", [&] { burst.run(); });
}

void report_overlap() {
  constexpr int kItems = 30;
  Loop loop;
  const double execution = milliseconds_alone([&] { await(loop.execute()); });
  const double all_reduce = milliseconds_alone([&] { await(loop.all_reduce()); });
  const double overlapped = milliseconds([&] { loop.run_overlapped(kItems); });
  const double ideal = kItems * execution + all_reduce;
  fmt::print("\nexecution {:.2f} ms, all-reduce {:.2f} ms, one after another {:.1f} ms\n",
             execution, all_reduce, kItems * (execution + all_reduce));
  fmt::print("  {} of each, overlapped: {:.1f} ms, {:.3f} of ideal (target 0.97)\n", kItems,
             overlapped, ideal / overlapped);
}

}  // namespace millrace::bench
