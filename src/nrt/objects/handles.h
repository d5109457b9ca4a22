// Handles: the opaque pointers through which C programs refer to objects. The memory of a handle is
// never given back, so a handle that was freed, or that nrt_close has ended, is recognised and is
// no dangling pointer. It is used again for a later object, after all other free handles.
//
// Thread-safe, except that a program must not free a handle while another thread uses it.
#pragma once

#include <atomic>
#include <cstdint>
#include <forward_list>
#include <memory>
#include <mutex>
#include <utility>

#include "base/never_destroyed.h"

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
  static constexpr uint64_t kLive = 0x6c69766568616e64;  // unlikely in memory that is no handle

  std::atomic<uint64_t> live_{0};
  std::shared_ptr<Object> object_;
  Handle* next_free_ = nullptr;
};

// All handles of one type. `H` derives from Handle<Object>.
template <class H>
class Handles {
 public:
  using Object = typename std::decay_t<decltype(*std::declval<H&>().object())>;

  // The one table of that type in the process; never destroyed.
  static Handles& of_process() {
    static NeverDestroyed<Handles> handles;
    return handles.get();
  }

  // May throw bad_alloc; nothing has changed then.
  H* make(std::shared_ptr<Object> object) {
    const std::lock_guard lock(mutex_);
    if (first_free_ == nullptr) append_free(all_.emplace_front());
    Base* const handle = first_free_;
    first_free_ = handle->next_free_;
    handle->object_ = std::move(object);
    handle->live_.store(Base::kLive, std::memory_order_release);
    return static_cast<H*>(handle);
  }

  // The object of a live handle; null for any other, and for null.
  static const std::shared_ptr<Object>& find(const H* handle) noexcept {
    static const std::shared_ptr<Object> none;
    return handle != nullptr && handle->live() ? handle->object() : none;
  }

  // Ends a live handle and returns its object, which other references may keep alive; null when the
  // handle is not live.
  std::shared_ptr<Object> drop(H* handle) noexcept {
    if (handle == nullptr) return nullptr;
    const std::lock_guard lock(mutex_);
    return handle->live() ? end(*handle) : nullptr;
  }

  // Ends all of them.
  void drop_all() noexcept {
    const std::lock_guard lock(mutex_);
    for (H& handle : all_)
      if (handle.live()) end(handle);
  }

  // Calls `visit(object)` for each live handle; it must not call the table.
  template <class Visit>
  void for_each(Visit&& visit) const {
    const std::lock_guard lock(mutex_);
    for (const H& handle : all_)
      if (handle.live()) visit(*handle.object());
  }

 private:
  using Base = Handle<Object>;

  // Requirement of both: mutex_ is held.
  std::shared_ptr<Object> end(Base& handle) noexcept {
    handle.live_.store(0, std::memory_order_release);
    append_free(handle);
    return std::exchange(handle.object_, nullptr);
  }
  void append_free(Base& handle) noexcept {
    handle.next_free_ = nullptr;
    (first_free_ == nullptr ? first_free_ : last_free_->next_free_) = &handle;
    last_free_ = &handle;
  }

  mutable std::mutex mutex_;
  std::forward_list<H> all_;  // needs no memory while there is none
  // The free handles in the order in which they were freed, linked by next_free_, so that freeing
  // one needs no memory.
  Base* first_free_ = nullptr;
  Base* last_free_ = nullptr;
};

}  // namespace millrace::nrt
