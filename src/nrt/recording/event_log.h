// EventLog: a bounded log of events for each core. When the log of a core is full, its oldest event
// is dropped. Thread-safe; events of different cores do not contend for a mutex.
#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "nrt/terms/unit_address.h"
#include "nrt/trace/tap.h"

namespace millrace::nrt::trace {

using Cores = std::bitset<kMostCores>;

// Selects the events that a log records.
struct Capture {
  static constexpr uint64_t kUsualEvents = 1 << 20;

  // The capacity per core. The start and the stop of something count as two events, as in the
  // public interface; at least one such pair is kept.
  uint64_t max_events = kUsualEvents;
  EventTypes types = EventTypes().set();
  Cores cores = Cores().set();  // events without a core are always recorded

  // False when no event type has the name.
  bool enable_type(std::string_view name, bool enabled) noexcept;
};

struct Event {
  uint64_t tracking_id = 0;
  Span span;          // its `model` is null and its `steps` are empty
  std::string model;  // the model's name; empty unless the event is an execution
};

class EventLog final : public Listener {
 public:
  explicit EventLog(const Capture& capture) : capture_(capture) {}

  void on_span(const Span& span) noexcept override;

  // Returns copies of the oldest events of each core, or of one core, at most max_events per core,
  // sorted by their start.
  std::vector<Event> look(uint64_t max_events, std::optional<uint32_t> core);
  // Removes the events that look() returned, and older events of the same cores.
  void forget(std::span<const Event> seen);

 private:
  struct OfCore {
    std::mutex mutex;
    std::deque<Event> events;  // sorted by tracking_id, which is the order of their stops
  };
  OfCore& of(const Span& span) noexcept {
    return cores_[span.core >= 0 ? static_cast<size_t>(span.core) : kMostCores];
  }

  const Capture capture_;
  std::array<OfCore, kMostCores + 1> cores_;  // the last entry is for events without a core
};

}  // namespace millrace::nrt::trace
