#include "queue/callbacks/prepared_call.h"

#include <mutex>

#include "base/hooks.h"
#include "base/never_destroyed.h"

namespace millrace::queue {

// The process's pool of unused nodes. It grows to the largest number of calls that existed at one
// time, and is never freed.
struct Nodes {
  using Node = PreparedCall::Node;
  std::mutex mutex;
  Node* first = nullptr;

  static Nodes& unused() {
    static NeverDestroyed<Nodes> made;
    return made.get();
  }
  Node* take() {
    {
      const std::lock_guard lock(mutex);
      if (first != nullptr) return std::exchange(first, first->next);
    }
    return new Node;
  }
  void put(Node* node) noexcept {
    const std::lock_guard lock(mutex);
    node->next = std::exchange(first, node);
  }
};

PreparedCall::PreparedCall(Notice notice) {
  if (!notice) return;
  node_ = Nodes::unused().take();
  node_->notice = std::move(notice);
  node_->next = nullptr;
}

// Destroys the callback with its captures, and returns the node to the pool.
void PreparedCall::recycle() noexcept {
  node_->notice = nullptr;
  node_->status = {};
  Nodes::unused().put(std::exchange(node_, nullptr));
}

void PreparedCall::set_result(uint64_t id, Status status) noexcept {
  node_->id = id;
  node_->status = std::move(status);
}

uint64_t PreparedCall::id() const noexcept {
  return node_->id;
}

void PreparedCall::operator()() const {
  emit(HookPoint::kCallbackBegan, node_->id);
  node_->notice(node_->id, node_->status);
  emit(HookPoint::kCallbackEnded, node_->id);
}

void CallQueue::push(PreparedCall call) noexcept {
  PreparedCall::Node* const node = std::exchange(call.node_, nullptr);
  (last_ != nullptr ? last_->next : first_) = node;
  last_ = node;
}

PreparedCall CallQueue::pop() noexcept {
  PreparedCall::Node* const node = first_;
  first_ = std::exchange(node->next, nullptr);
  if (first_ == nullptr) last_ = nullptr;
  return PreparedCall(node);
}

PreparedCall CallsById::take(uint64_t id) noexcept {
  const auto found = nodes_.find(id);
  if (found == nodes_.end()) return {};
  PreparedCall::Node& node = *found;
  nodes_.erase(found);
  return PreparedCall(&node);
}

PreparedCall CallsById::take_first() noexcept {
  return take(nodes_.begin()->id);
}

}  // namespace millrace::queue
