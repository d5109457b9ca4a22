#include "nrt/recording/event_log.h"

#include <algorithm>
#include <atomic>
#include <iterator>
#include <new>
#include <utility>

#include "nrt/objects/model.h"

namespace millrace::nrt::trace {
namespace {

uint64_t next_tracking_id() noexcept {
  static std::atomic<uint64_t> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

size_t pairs(uint64_t events) noexcept {
  return static_cast<size_t>(std::max<uint64_t>(events / 2, 1));
}

}  // namespace

bool Capture::enable_type(std::string_view name, bool enabled) noexcept {
  const std::optional<EventType> type = event_type_named(name);
  if (type) types[*type] = enabled;
  return type.has_value();
}

void EventLog::on_span(const Span& span) noexcept {
  const bool has_core = span.core >= 0;
  const auto core = static_cast<size_t>(span.core);
  if (!capture_.types[span.type] || (has_core && (core >= kMostCores || !capture_.cores[core])))
    return;
  try {
    Event event{0, span, {}};
    if (span.model != nullptr) event.model = span.model->name();
    event.span.model = nullptr;
    event.span.steps = {};
    OfCore& log = of(span);
    const std::lock_guard lock(log.mutex);
    event.tracking_id = next_tracking_id();
    if (log.events.size() >= pairs(capture_.max_events)) log.events.pop_front();
    log.events.push_back(std::move(event));
  } catch (const std::bad_alloc&) {
    // The event is dropped: the request that it describes must not fail because of it.
  }
}

std::vector<Event> EventLog::look(uint64_t max_events, std::optional<uint32_t> core) {
  std::vector<Event> seen;
  for (size_t at = 0; at < cores_.size(); ++at) {
    if (core && at != *core) continue;
    OfCore& log = cores_[at];
    const std::lock_guard lock(log.mutex);
    const auto end = log.events.begin() +
                     static_cast<std::ptrdiff_t>(std::min(log.events.size(), pairs(max_events)));
    seen.insert(seen.end(), log.events.begin(), end);
  }
  std::ranges::stable_sort(seen, {}, [](const Event& event) { return event.span.begin_ns; });
  return seen;
}

void EventLog::forget(std::span<const Event> seen) {
  for (const Event& event : seen) {
    OfCore& log = of(event.span);
    const std::lock_guard lock(log.mutex);
    while (!log.events.empty() && log.events.front().tracking_id <= event.tracking_id)
      log.events.pop_front();
  }
}

}  // namespace millrace::nrt::trace
