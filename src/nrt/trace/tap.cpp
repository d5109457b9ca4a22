#include "nrt/trace/tap.h"

#include <unistd.h>

#include <algorithm>
#include <mutex>
#include <shared_mutex>
#include <utility>
#include <vector>

namespace millrace::nrt::trace {
namespace {

// The list of listeners. Never destroyed, since threads may still publish while the process exits.
struct Listeners {
  std::shared_mutex mutex;
  std::vector<std::shared_ptr<Listener>> all;
};

Listeners& listeners() {
  static auto* const listeners = new Listeners;
  return *listeners;
}

}  // namespace

constinit std::atomic<int> tap_internal::listeners{0};

void add_listener(std::shared_ptr<Listener> listener) {
  Listeners& known = listeners();
  const std::lock_guard lock(known.mutex);
  known.all.push_back(std::move(listener));
  tap_internal::listeners.store(static_cast<int>(known.all.size()), std::memory_order_relaxed);
}

void remove_listener(const Listener& listener) noexcept {
  Listeners& known = listeners();
  const std::lock_guard lock(known.mutex);
  std::erase_if(known.all, [&](const auto& other) { return other.get() == &listener; });
  tap_internal::listeners.store(static_cast<int>(known.all.size()), std::memory_order_relaxed);
}

size_t wanted_steps(const Model& model) noexcept {
  Listeners& known = listeners();
  const std::shared_lock lock(known.mutex);
  size_t steps = 0;
  for (const std::shared_ptr<Listener>& listener : known.all)
    steps = std::max(steps, listener->wanted_steps(model));
  return steps;
}

void publish(const Span& span) noexcept {
  Listeners& known = listeners();
  const std::shared_lock lock(known.mutex);
  for (const std::shared_ptr<Listener>& listener : known.all) listener->on_span(span);
}

int64_t this_thread() noexcept {
  return ::gettid();
}

}  // namespace millrace::nrt::trace
