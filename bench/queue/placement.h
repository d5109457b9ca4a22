// Placement: pins the threads of a hand-off. While it lives, the calling thread is pinned to the
// first core of the process, and threads that objects from make() start are pinned to the second,
// for Millrace and the peers alike. Otherwise the kernel sometimes runs both on one core, where a
// wake-up takes a tenth of the time, and the results could not be compared. With one core it does
// nothing.
#pragma once

#include <sched.h>

#include <memory>
#include <utility>
#include <vector>

#include "base/process/topology.h"

namespace millrace::bench {

class Placement {
 public:
  Placement() {
    sched_getaffinity(0, sizeof(before_), &before_);
    stay_on(0);
  }
  ~Placement() { sched_setaffinity(0, sizeof(before_), &before_); }
  Placement(const Placement&) = delete;
  Placement& operator=(const Placement&) = delete;

  // Call a constructor, or a function, while this thread is on the second core: threads that it
  // starts inherit that affinity.
  template <class T, class... Arguments>
  std::unique_ptr<T> make(Arguments&&... arguments) {
    return elsewhere([&] { return std::make_unique<T>(std::forward<Arguments>(arguments)...); });
  }
  template <class Function>
  auto elsewhere(Function&& function) {
    stay_on(1);
    auto made = function();
    stay_on(0);
    return made;
  }

 private:
  static void stay_on(size_t index) {
    const std::vector<int>& cores = topology().cores;
    if (cores.size() < 2) return;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(cores[index], &one);
    sched_setaffinity(0, sizeof(one), &one);
  }

  cpu_set_t before_;
};

}  // namespace millrace::bench
