// EventLog: what happened lately, core by core, until somebody takes it out.
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

// What to keep.
struct Capture {
  static constexpr uint64_t kUsualEvents = 1 << 20;

  // Per core, the begin and the end of something counted as two; at least one pair is kept.
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

  // The oldest of each core, as many as max_events allows, or those of one core; in the order in
  // which they began.
  std::vector<Event> look(uint64_t max_events, std::optional<uint32_t> core);
  // Removes what look() returned, and of each core what is older.
  void forget(std::span<const Event> seen);

 private:
  struct OfCore {
    std::mutex mutex;
    std::deque<Event> events;  // in the order in which they ended, which is that of their ids
  };
  OfCore& of(const Span& span) noexcept {
    return cores_[span.core >= 0 ? static_cast<size_t>(span.core) : kMostCores];
  }

  const Capture capture_;
  std::array<OfCore, kMostCores + 1> cores_;  // the last one for what belongs to no core
};

}  // namespace millrace::nrt::trace
