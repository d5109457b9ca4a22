// RunStatistics: the counters of a stress run, and the checks that failed in it. Thread-safe.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "nrt/nrt_async.h"
#include "tests/support/violations.h"

namespace millrace::stress {

inline constexpr uint32_t kCores = 2;

// The units that a run uses: per core one for executions and two for transfers.
inline constexpr size_t kUnits = kCores * 3;
struct UnitOfRun {
  uint32_t core;
  nrta_xu_t kind;
  int queue;
};
inline constexpr std::array<UnitOfRun, kUnits> kAllUnits = {{{0, NRTA_XU_COMPUTE, 0},
                                                             {0, NRTA_XU_TENSOR_OP, 0},
                                                             {0, NRTA_XU_TENSOR_OP, 1},
                                                             {1, NRTA_XU_COMPUTE, 0},
                                                             {1, NRTA_XU_TENSOR_OP, 0},
                                                             {1, NRTA_XU_TENSOR_OP, 1}}};

class RunStatistics : public test::Violations {
 public:
  std::atomic<uint64_t> accepted{0}, completed{0};
  std::atomic<uint64_t> succeeded{0}, failed{0}, unrecoverable{0}, closed{0};  // of those
  std::atomic<uint64_t> tracked{0}, tracked_errors{0};
  std::atomic<uint64_t> full{0}, refused{0}, executed{0};
  std::atomic<uint64_t> event_fds{0}, event_fds_closed_early{0};

  // Since the last nrt_init.
  std::array<std::atomic<uint64_t>, kUnits> accepted_by_unit{};

  void count(NRT_STATUS status) {
    completed.fetch_add(1, std::memory_order_relaxed);
    switch (status) {
      case NRT_SUCCESS:
        succeeded.fetch_add(1, std::memory_order_relaxed);
        break;
      case NRT_HW_ERROR:
      case NRT_EXEC_COMPLETED_WITH_ERR:
        failed.fetch_add(1, std::memory_order_relaxed);
        break;
      case NRT_EXEC_UNIT_UNRECOVERABLE:
        unrecoverable.fetch_add(1, std::memory_order_relaxed);
        break;
      case NRT_CLOSED:
        closed.fetch_add(1, std::memory_order_relaxed);
        break;
      default:
        add_violation("a request completed with a status that it cannot have");
    }
  }
};

}  // namespace millrace::stress
