// EventLog: the latest events of each core, until they are taken out.
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

// The events that a log keeps.
struct Capture {
  static constexpr uint64_t kUsualEvents = 1 << 20;

  // Per core. The begin and the end of something count as two; at least one pair is kept.
  uint64_t max_events = kUsualEvents;
  EventTypes types = EventTypes().set();
  Cores cores = Cores().set();  // events that belong to no core are kept whatever this says

  // False when there is no such type.
  bool enable_type(std::string_view name, bool enabled) noexcept;
};

struct Event {
  uint64_t tracking_id = 0;
  Span span;          // without what is valid for a moment only
  std::string model;  // of executions; empty where there was no memory for it
};

class EventLog final : public Listener {
 public:
  explicit EventLog(const Capture& capture) : capture_(capture) {}

  void on_span(const Span& span) noexcept override;

  // The oldest events of each core, or of one core, at most max_events of a core; sorted by their
  // begin.
  std::vector<Event> look(uint64_t max_events, std::optional<uint32_t> core);
  // Removes the events that look() returned, and older ones of the same cores.
  void forget(std::span<const Event> seen);

 private:
  struct OfCore {
    std::mutex mutex;
    std::deque<Event> events;  // in the order of their ends, which is that of their ids
  };
  OfCore& of(const Span& span) noexcept {
    return cores_[span.core >= 0 ? static_cast<size_t>(span.core) : kMostCores];
  }

  const Capture capture_;
  std::array<OfCore, kMostCores + 1> cores_;  // the last one for events that belong to no core
};

}  // namespace millrace::nrt::trace
