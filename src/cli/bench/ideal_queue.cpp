#include "cli/bench/ideal_queue.h"

#include <algorithm>
#include <functional>
#include <queue>

namespace millrace::cli {

std::vector<int64_t> ideal_latencies_ns(std::span<const int64_t> arrivals_ns,
                                        std::span<const int64_t> services_ns, uint32_t servers) {
  // The times at which the servers become free, the earliest on top.
  std::priority_queue<int64_t, std::vector<int64_t>, std::greater<>> free_at(
      std::greater<>{}, std::vector<int64_t>(servers, 0));
  std::vector<int64_t> latencies_ns;
  latencies_ns.reserve(arrivals_ns.size());
  for (size_t i = 0; i < arrivals_ns.size(); ++i) {
    const int64_t done = std::max(arrivals_ns[i], free_at.top()) + services_ns[i];
    free_at.pop();
    free_at.push(done);
    latencies_ns.push_back(done - arrivals_ns[i]);
  }
  return latencies_ns;
}

}  // namespace millrace::cli
