// Handles: what C programs hold of an object. A handle's memory is never given back, so that one
// which was freed, or died with nrt_close, is told from a live one instead of being a dangling
// pointer. It is used again for a later object, after all others that are free.
//
// Freeing a handle while another thread uses it is the program's mistake. Everything else: any
// thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace millrace::nrt {

// Base of a handle type. `Object` is what it stands for.
template <class Object>
class Handle {
 public:
  bool live() const noexcept { return live_.load(std::memory_order_acquire) == kLive; }
  // Requirement: live().
  const std::shared_ptr<Object>& object() const noexcept { return object_; }

 private:
  template <class H>
  friend class Handles;
  static constexpr uint64_t kLive = 0x6c69766568616e64;  // no value that other memory has by chance

  std::atomic<uint64_t> live_{0};
  std::shared_ptr<Object> object_;
};

// All handles of one type. `H` derives from Handle<Object>.
template <class H>
class Handles {
 public:
  using Object = typename std::decay_t<decltype(*std::declval<H&>().object())>;

  // The one table of that type in the process; never destroyed.
  static Handles& of_process() {
    static auto* const handles = new Handles;
    return *handles;
  }

  // May throw bad_alloc; nothing has changed then.
  H* make(std::shared_ptr<Object> object) {
    const std::lock_guard lock(mutex_);
    if (free_.empty()) {
      all_.emplace_back();
      free_.push_back(&all_.back());
    }
    H* const handle = free_.front();
    free_.pop_front();
    handle->object_ = std::move(object);
    handle->live_.store(H::kLive, std::memory_order_release);
    return handle;
  }

  // The object of a live handle; null for any other, and for null.
  static const std::shared_ptr<Object>& find(const H* handle) noexcept {
    static const std::shared_ptr<Object> none;
    return handle != nullptr && handle->live() ? handle->object() : none;
  }

  // Ends a live handle; null when it is none. The object lives as long as somebody else keeps it.
  std::shared_ptr<Object> drop(H* handle) {
    if (handle == nullptr) return nullptr;
    const std::lock_guard lock(mutex_);
    if (!handle->live()) return nullptr;
    free_.push_back(handle);
    handle->live_.store(0, std::memory_order_release);
    return std::exchange(handle->object_, nullptr);
  }

  // Ends all of them, and returns their objects.
  std::vector<std::shared_ptr<Object>> drop_all() {
    const std::lock_guard lock(mutex_);
    std::vector<std::shared_ptr<Object>> objects;
    for (H& handle : all_) {
      if (!handle.live()) continue;
      objects.push_back(std::exchange(handle.object_, nullptr));
      handle.live_.store(0, std::memory_order_release);
      free_.push_back(&handle);
    }
    return objects;
  }

  std::vector<std::shared_ptr<Object>> all() const {
    const std::lock_guard lock(mutex_);
    std::vector<std::shared_ptr<Object>> objects;
    for (const H& handle : all_)
      if (handle.live()) objects.push_back(handle.object());
    return objects;
  }

 private:
  mutable std::mutex mutex_;
  std::deque<H> all_;
  std::deque<H*> free_;
};

}  // namespace millrace::nrt
