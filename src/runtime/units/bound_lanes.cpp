#include "runtime/units/bound_lanes.h"

#include <map>
#include <mutex>

namespace millrace::runtime {
namespace {

struct BoundLanes {
  std::mutex mutex;
  std::map<int, std::weak_ptr<queue::Lanes>> by_core;
};

}  // namespace

std::shared_ptr<queue::Lanes> lane_bound_to(int core) {
  // Never destroyed: sessions may be made while the process exits.
  static BoundLanes* bound = new BoundLanes;
  const std::lock_guard lock(bound->mutex);
  std::weak_ptr<queue::Lanes>& known = bound->by_core[core];
  std::shared_ptr<queue::Lanes> lanes = known.lock();
  if (lanes == nullptr) {
    lanes = std::make_shared<queue::Lanes>(queue::LanesOptions{.count = 1, .core = core});
    known = lanes;
  }
  return lanes;
}

}  // namespace millrace::runtime
