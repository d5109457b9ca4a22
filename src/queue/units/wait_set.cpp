#include "queue/units/wait_set.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <memory>
#include <optional>

#include "base/process/forked_child.h"
#include "queue/units/unit_impl.h"
#include "queue/waiting/deadline.h"
#include "queue/waiting/parker.h"

namespace millrace::queue {
namespace {

// The number of requests up to which a wait allocates nothing.
constexpr size_t kUsualRequests = 16;

// Lets a thread sleep until `wanted` of its requests are completed.
class WaitSet {
 public:
  explicit WaitSet(size_t wanted) noexcept : wanted_(wanted) {}
  void one_completed() noexcept {
    if (wanted_.fetch_sub(1, std::memory_order_acq_rel) == 1) parker_.unpark();
  }
  bool park_until(Deadline deadline) noexcept { return parker_.park_until(deadline); }

 private:
  std::atomic<size_t> wanted_;  // wraps around below zero when more requests complete
  Parker parker_;
};

class WaitSetNode final : public WaitNode {
 public:
  WaitSetNode(uint64_t counter, WaitSet& set) noexcept : WaitNode(counter), set_(set) {}
  void on_completed() noexcept override { set_.one_completed(); }

 private:
  WaitSet& set_;
};

Status check(std::span<const UnitRequest> requests) {
  if (is_forked_child()) return forked_status();
  if (requests.empty()) return invalid_argument("there is no request to wait for");
  for (const UnitRequest& request : requests)
    if (!request.unit->impl().issued(request.id)) return request.unit->impl().unknown(request.id);
  return {};
}

// Returns the index of the first completed request; the number of requests if none is completed.
size_t first_completed(std::span<const UnitRequest> requests) {
  size_t index = 0;
  while (index < requests.size() && !requests[index].unit->is_completed(requests[index].id))
    ++index;
  return index;
}

// Sleeps until `wanted` of the requests are completed. Returns false at the deadline.
bool sleep_until(std::span<const UnitRequest> requests, size_t wanted, Deadline deadline) {
  WaitSet set(wanted);
  // All memory is allocated before the first node is linked.
  std::array<std::optional<WaitSetNode>, kUsualRequests> usual;
  std::unique_ptr<std::optional<WaitSetNode>[]> more;
  std::optional<WaitSetNode>* nodes = usual.data();
  if (requests.size() > usual.size()) {
    more = std::make_unique<std::optional<WaitSetNode>[]>(requests.size());
    nodes = more.get();
  }
  for (size_t i = 0; i < requests.size(); ++i) {
    nodes[i].emplace(counter_of(requests[i].id), set);
    if (requests[i].unit->impl().add_waiter(*nodes[i])) continue;
    nodes[i].reset();
    set.one_completed();
  }
  const bool woken = set.park_until(deadline);
  for (size_t i = 0; i < requests.size(); ++i)
    if (nodes[i]) requests[i].unit->impl().remove_waiter(*nodes[i]);
  return woken;
}

}  // namespace

Result<size_t> wait_any(std::span<const UnitRequest> requests, std::chrono::nanoseconds timeout) {
  MILLRACE_RETURN_IF_ERROR(check(requests));
  size_t index = first_completed(requests);
  if (index == requests.size() && timeout > timeout.zero()) {
    sleep_until(requests, 1, deadline_after(timeout));
    index = first_completed(requests);
  }
  if (index == requests.size())
    return Status(StatusCode::kPending, "none of the requests is completed yet");
  return index;
}

Status wait_all(std::span<const UnitRequest> requests, std::chrono::nanoseconds timeout) {
  MILLRACE_RETURN_IF_ERROR(check(requests));
  const auto completed = [](const UnitRequest& r) { return r.unit->is_completed(r.id); };
  if (std::ranges::all_of(requests, completed)) return {};
  if (timeout > timeout.zero() && sleep_until(requests, requests.size(), deadline_after(timeout)))
    return {};
  return std::ranges::all_of(requests, completed)
             ? Status()
             : Status(StatusCode::kPending, "some of the requests are not completed yet");
}

}  // namespace millrace::queue
