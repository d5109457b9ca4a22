// Measures the latency of each way to learn of a completion, and its distribution: from just before
// the submit until the waiter resumes (or the callback begins), for one job at a time. The counters
// are the percentiles p50, p99 and p99.9 of a run, in nanoseconds.
//
// Except in `spinning`, no thread spins: the lane sleeps when the job arrives, and so does the
// thread that learns of the completion, so every sample contains two wake-ups by the kernel.
// `futex` measures only two such wake-ups.
#include <benchmark/benchmark.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <semaphore>

#include "base/clock.h"
#include "bench/queue/benchmarks.h"
#include "bench/queue/condvar_queue.h"
#include "bench/queue/futex_handoff.h"
#include "bench/queue/latency_recorder.h"
#include "bench/queue/millrace_queue.h"
#include "bench/queue/placement.h"

namespace millrace::bench {
namespace {

// Each path has a function once(), which runs one job and returns the time at which the completion
// was known.

class SpinningPath {
 public:
  int64_t once() {
    queue_.wait(queue_.submit());
    return now_ns();
  }

 private:
  MillraceQueue queue_{1};
};

class ParkedPath {
 public:
  int64_t once() {
    queue_.wait(queue_.submit());
    return now_ns();
  }

 private:
  MillraceQueue queue_{1, MillraceQueue::kParkAtOnce};
};

class EventFdPath {
 public:
  EventFdPath() : fd_(::eventfd(0, EFD_CLOEXEC)) {
    benchmark::DoNotOptimize(queue_.unit().notify_each_fd(fd_));
  }
  ~EventFdPath() { ::close(fd_); }

  int64_t once() {
    queue_.submit();
    pollfd wanted{fd_, POLLIN, 0};
    ::poll(&wanted, 1, -1);
    const int64_t known = now_ns();
    uint64_t count = 0;
    benchmark::DoNotOptimize(::read(fd_, &count, sizeof(count)));
    return known;
  }

 private:
  MillraceQueue queue_{1, MillraceQueue::kParkAtOnce};
  int fd_;
};

// The time ends when the callback begins, on the dispatcher's thread; it does not include the
// notification of this thread that it may submit again. The dispatcher's thread is started by the
// first callback, and inherits the core of this thread, which sleeps meanwhile. So there are two
// wake-ups across cores, as in the other paths.
class CallbackPath {
 public:
  int64_t once() {
    queue::SubmitOptions options;
    options.callback = [this](queue::SequenceId, const Status&) {
      called_ns_ = now_ns();
      called_.release();
    };
    benchmark::DoNotOptimize(queue_.unit().submit(MillraceQueue::fill_nothing, std::move(options)));
    called_.acquire();
    return called_ns_;
  }

 private:
  int64_t called_ns_ = 0;
  std::binary_semaphore called_{0};
  MillraceQueue queue_{1, MillraceQueue::kParkAtOnce};
};

class CondvarPath {
 public:
  int64_t once() {
    queue_.wait(queue_.submit());
    return now_ns();
  }

 private:
  CondvarQueue queue_{1};
};

class FutexPath {
 public:
  int64_t once() {
    handoff_.round_trip();
    return now_ns();
  }

 private:
  FutexHandoff handoff_;
};

template <class Path>
void wake(benchmark::State& state) {
  Placement placement;
  const auto path = placement.make<Path>();
  LatencyRecorder latencies(state.max_iterations);
  for (auto _ : state) {
    const int64_t begin = now_ns();
    const int64_t taken = path->once() - begin;
    latencies.add(taken);
    state.SetIterationTime(static_cast<double>(taken) * 1e-9);
  }
  state.counters["p50"] = latencies.percentile(0.5);
  state.counters["p99"] = latencies.percentile(0.99);
  state.counters["p99.9"] = latencies.percentile(0.999);
}

void add_wake(const char* name, void (*function)(benchmark::State&)) {
  // With so many samples, twenty lie above the 99.9th percentile.
  benchmark::RegisterBenchmark(name, function)->UseManualTime()->Iterations(20'000);
}

}  // namespace

void register_wakes() {
  add_wake("wake/spinning", wake<SpinningPath>);
  add_wake("wake/parked", wake<ParkedPath>);
  add_wake("wake/eventfd", wake<EventFdPath>);
  add_wake("wake/callback", wake<CallbackPath>);
  add_wake("wake/condvar", wake<CondvarPath>);
  add_wake("wake/futex", wake<FutexPath>);
}

}  // namespace millrace::bench
