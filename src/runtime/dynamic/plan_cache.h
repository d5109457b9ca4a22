// PlanCache: the plans of one dynamic program, by the shapes (and elements) that they are good for.
//
// Bounded: the plan that was not used for the longest time goes first. Thread-safe; one thread
// lowers at a time, while others find what there is.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "device/device.h"
#include "lowering/stage.h"
#include "runtime/dynamic/plan.h"

namespace millrace::runtime {

// How many plans were looked for, had to be made, and had to go.
struct PlanCounters {
  uint64_t found = 0;
  uint64_t made = 0;
  uint64_t evicted = 0;
};

class PlanCache {
 public:
  // Requirement: `device` and `model` outlive it; `model` has a network.
  PlanCache(device::Device& device, const graph::CompiledModel& model, size_t capacity) noexcept
      : device_(device), model_(model), capacity_(capacity) {}

  // The plan that follows `after` (null: that begins `network`) where the values needed then are
  // `known`, in the order of names_needed(). Null where elements of known values that are not given
  // are needed to go on. Errors are those of lowering::lower_stage() and of loading.
  Result<std::shared_ptr<const Plan>> find_or_make(const network::Network& network,
                                                   const std::shared_ptr<const Plan>& after,
                                                   std::span<const lowering::Known> known);

  // Returns the values that the plan after `after`, or the first one, reads and does not make.
  static std::vector<std::string> names_needed(const network::Network& network, const Plan* after);

  size_t capacity() const noexcept { return capacity_; }
  PlanCounters counters() const;

 private:
  std::shared_ptr<const Plan> find(const network::Network& network, const Plan* after,
                                   std::span<const lowering::Known> known);
  Result<std::shared_ptr<const Plan>> make(const network::Network& network,
                                           const std::shared_ptr<const Plan>& after,
                                           std::span<const lowering::Known> known) const;
  Result<std::shared_ptr<const device::Program>> load(graph::Graph graph) const;
  void keep(std::shared_ptr<const Plan> plan);

  device::Device& device_;
  const graph::CompiledModel& model_;
  const size_t capacity_;
  std::mutex making_;  // taken before mutex_
  mutable std::mutex mutex_;
  std::list<std::shared_ptr<const Plan>> plans_;  // the last one used first
  PlanCounters counters_;
};

}  // namespace millrace::runtime
