// Worker: one thread of a stress run. Schedules requests at random and checks that each completes.
#pragma once

#include <array>
#include <cstddef>
#include <deque>
#include <memory>
#include <random>
#include <set>

#include "base/unique_fd.h"
#include "nrt/nrt_async.h"
#include "tests/nrt_stress/run_statistics.h"

namespace millrace::stress {

// State that the workers of one round share.
struct World {
  RunStatistics& statistics;
  std::array<nrt_model_t*, kCores> models;
};

class Worker {
 public:
  Worker(const World& world, uint64_t seed);
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  // Schedules this many requests. With `drain`, all have completed when it returns.
  void run(uint64_t requests, bool drain);
  // To be called after nrt_close: checks that the pending requests have completed, too.
  void settle();

 private:
  static constexpr size_t kBytes = 256;

  // A request and the memory that it borrows. Kept for a while after the completion, so that a
  // second write would be noticed.
  struct Request {
    NRT_STATUS ret;
    nrta_seq_t sequence = 0;
    bool tracked = false;
    std::array<std::byte, kBytes> buffer{};
  };
  // The objects of one core.
  struct Core {
    nrt_tensor_t *input = nullptr, *output = nullptr;
    nrt_tensor_t* scratch[2] = {};  // by queue, since queues do not wait for each other
    nrt_tensor_set_t *inputs = nullptr, *outputs = nullptr;
    nrta_error_tracker_t* tracker = nullptr;
  };

  size_t random(size_t limit) { return random_() % limit; }
  void make(uint32_t core);
  void schedule_one();
  NRT_STATUS schedule(Request& request, const UnitOfRun& unit);
  NRT_STATUS schedule_execution(Request& request, uint32_t core);
  NRT_STATUS schedule_transfer(Request& request, const UnitOfRun& unit);
  NRT_STATUS schedule_on_temporary(Request& request, const UnitOfRun& unit);
  void execute();
  void watch(const Request& request);
  void retire_oldest();
  void forget(std::unique_ptr<Request> request);
  void fetch_errors();

  const World world_;
  std::mt19937_64 random_;
  std::array<Core, kCores> cores_;
  std::deque<std::unique_ptr<Request>> pending_, retired_;
  std::set<nrta_seq_t> tracked_;  // pending or completed, and not reported as failed
  UniqueFd event_;                // of requests whose completions are counted
  uint64_t watched_ = 0;
};

}  // namespace millrace::stress
