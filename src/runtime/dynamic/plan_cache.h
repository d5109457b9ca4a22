// PlanCache: the plans of one dynamic program, found by the shapes (and elements) for which they
// are valid.
//
// It has a bounded capacity with least-recently-used eviction. Thread-safe: only one thread at a
// time makes a plan; meanwhile others find existing ones.
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
#include "lowering/passes/derived_constants.h"
#include "lowering/stage.h"
#include "runtime/dynamic/plan.h"

namespace millrace::runtime {

// How many lookups have found a plan, how many plans were made, and how many were evicted.
struct PlanCounters {
  uint64_t found = 0;
  uint64_t made = 0;
  uint64_t evicted = 0;
};

class PlanCache {
 public:
  // Requirement: `device` and `model` outlive this object; `model` has a network.
  PlanCache(device::Device& device, const graph::CompiledModel& model, size_t capacity) noexcept
      : device_(device), model_(model), capacity_(capacity) {}

  // Returns the plan that follows `after` (null: the first plan of `network`) for the values
  // `known`, which are in the order of names_needed(). Null if no node can be lowered without
  // elements that `known` does not have. Errors are those of lowering::lower_stage() and of
  // loading.
  Result<std::shared_ptr<const Plan>> find_or_make(const network::Network& network,
                                                   const std::shared_ptr<const Plan>& after,
                                                   std::span<const lowering::Known> known);

  // Returns the names of the values that the plan after `after` (null: the first plan) reads and
  // does not compute.
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
  mutable lowering::DerivedConstants derived_;
  std::mutex making_;  // taken before mutex_
  mutable std::mutex mutex_;
  std::list<std::shared_ptr<const Plan>> plans_;  // the most recently used first
  PlanCounters counters_;
};

}  // namespace millrace::runtime
