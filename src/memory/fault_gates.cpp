#include "memory/fault_gates.h"

#include <atomic>
#include <memory>
#include <mutex>
#include <utility>

#include "base/never_destroyed.h"
#include "base/process/forked_child.h"

namespace millrace::memory {
namespace {

class Gate {
 public:
  void set(FaultGate gate) {
    std::shared_ptr<const FaultGate> made;
    if (gate) made = std::make_shared<const FaultGate>(std::move(gate));
    const std::lock_guard lock(mutex_);
    is_set_.store(made != nullptr, std::memory_order_relaxed);
    gate_ = std::move(made);
  }

  Status pass() {
    // Another thread may have held the mutex at the fork of a child, which is refused anyway.
    if (!is_set_.load(std::memory_order_relaxed) || is_forked_child()) [[likely]]
      return {};
    std::shared_ptr<const FaultGate> gate;
    {
      const std::lock_guard lock(mutex_);
      gate = gate_;
    }
    return gate == nullptr ? Status() : (*gate)();
  }

 private:
  std::atomic<bool> is_set_{false};
  std::mutex mutex_;
  std::shared_ptr<const FaultGate> gate_;
};

Gate& allocation_gate() {
  static NeverDestroyed<Gate> made;
  return made.get();
}
Gate& descriptor_gate() {
  static NeverDestroyed<Gate> made;
  return made.get();
}

}  // namespace

void set_allocation_gate(FaultGate gate) {
  allocation_gate().set(std::move(gate));
}
void set_descriptor_gate(FaultGate gate) {
  descriptor_gate().set(std::move(gate));
}

Status pass_allocation_gate() {
  return allocation_gate().pass();
}
Status pass_descriptor_gate() {
  return descriptor_gate().pass();
}

}  // namespace millrace::memory
