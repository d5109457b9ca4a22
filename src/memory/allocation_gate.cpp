#include "memory/allocation_gate.h"

#include <atomic>
#include <memory>
#include <mutex>
#include <utility>

#include "base/never_destroyed.h"
#include "base/process/forked_child.h"

namespace millrace::memory {
namespace {

struct GateOfProcess {
  std::atomic<bool> is_set{false};
  std::mutex mutex;
  std::shared_ptr<const AllocationGate> gate;
};

GateOfProcess& gate_of_process() {
  static NeverDestroyed<GateOfProcess> made;
  return made.get();
}

}  // namespace

void set_allocation_gate(AllocationGate gate) {
  GateOfProcess& state = gate_of_process();
  std::shared_ptr<const AllocationGate> made;
  if (gate) made = std::make_shared<const AllocationGate>(std::move(gate));
  const std::lock_guard lock(state.mutex);
  state.is_set.store(made != nullptr, std::memory_order_relaxed);
  state.gate = std::move(made);
}

Status pass_allocation_gate() {
  GateOfProcess& state = gate_of_process();
  // Another thread may have held the mutex at the fork of a child, which is refused anyway.
  if (!state.is_set.load(std::memory_order_relaxed) || is_forked_child()) [[likely]]
    return {};
  std::shared_ptr<const AllocationGate> gate;
  {
    const std::lock_guard lock(state.mutex);
    gate = state.gate;
  }
  return gate == nullptr ? Status() : (*gate)();
}

}  // namespace millrace::memory
