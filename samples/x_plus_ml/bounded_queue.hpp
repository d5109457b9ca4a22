// BoundedQueue: hands elements from one thread to the next, in order.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <mutex>
#include <optional>
#include <utility>

// Holds at most `capacity` elements, so that a fast stage waits for a slow one instead of filling
// the memory. Thread-safe.
template <class Element>
class BoundedQueue {
 public:
  explicit BoundedQueue(std::size_t capacity) : capacity_(capacity) {}

  // Waits while the queue is full. An element that comes after close() is dropped.
  void push(Element element) {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [this] { return closed_ || elements_.size() < capacity_; });
    if (closed_) return;
    elements_.push_back(std::move(element));
    changed_.notify_all();
  }

  // Waits for an element. Nothing once the queue is closed and empty.
  std::optional<Element> pop() {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [this] { return closed_ || !elements_.empty(); });
    if (elements_.empty()) return std::nullopt;
    Element element = std::move(elements_.front());
    elements_.pop_front();
    changed_.notify_all();
    return element;
  }

  // There will be no more elements; those that are in the queue can still be taken.
  void close() {
    const std::lock_guard<std::mutex> lock(mutex_);
    closed_ = true;
    changed_.notify_all();
  }

 private:
  const std::size_t capacity_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Element> elements_;
  bool closed_ = false;
};
