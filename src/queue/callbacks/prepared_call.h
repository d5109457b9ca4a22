// PreparedCall: a callback in a node with all memory that posting it needs. It is made when a
// request is accepted, so that completing the request allocates nothing. CallQueue is a FIFO of
// calls, CallsById a set of calls sorted by id; both link the nodes (intrusive containers).
//
// An object is not thread-safe, but different threads may make and destroy calls concurrently.
#pragma once

#include <boost/intrusive/set.hpp>

#include <cstdint>
#include <functional>
#include <utility>

#include "base/status.h"

namespace millrace::queue {

// A completion callback. It receives the id of a request or job, and its status.
using Notice = std::function<void(uint64_t id, const Status& status)>;

class PreparedCall {
 public:
  PreparedCall() noexcept = default;  // empty
  // Throws std::bad_alloc, but not in steady state, where the nodes of earlier calls are reused. An
  // empty notice makes an empty call.
  explicit PreparedCall(Notice notice);
  PreparedCall(PreparedCall&& other) noexcept : node_(std::exchange(other.node_, nullptr)) {}
  PreparedCall& operator=(PreparedCall&& other) noexcept {
    std::swap(node_, other.node_);
    return *this;
  }
  ~PreparedCall() {
    if (node_ != nullptr) recycle();
  }

  friend void swap(PreparedCall& a, PreparedCall& b) noexcept { std::swap(a.node_, b.node_); }

  explicit operator bool() const noexcept { return node_ != nullptr; }
  // Requirement for the following functions: the call is not empty.
  void set_result(uint64_t id, Status status) noexcept;
  uint64_t id() const noexcept;
  void operator()() const;

 private:
  friend class CallQueue;
  friend class CallsById;
  friend struct Nodes;
  struct Node : boost::intrusive::set_base_hook<
                    boost::intrusive::link_mode<boost::intrusive::normal_link>> {
    Notice notice;
    uint64_t id = 0;
    Status status;
    Node* next = nullptr;
  };
  explicit PreparedCall(Node* node) noexcept : node_(node) {}
  void recycle() noexcept;

  Node* node_ = nullptr;
};

class CallQueue {
 public:
  CallQueue() noexcept = default;
  CallQueue(const CallQueue&) = delete;
  CallQueue& operator=(const CallQueue&) = delete;
  ~CallQueue() {
    while (!empty()) pop();
  }

  bool empty() const noexcept { return first_ == nullptr; }
  void push(PreparedCall call) noexcept;
  PreparedCall pop() noexcept;  // requirement: the queue is not empty
  void swap(CallQueue& other) noexcept {
    std::swap(first_, other.first_);
    std::swap(last_, other.last_);
  }

 private:
  PreparedCall::Node* first_ = nullptr;
  PreparedCall::Node* last_ = nullptr;
};

class CallsById {
 public:
  CallsById() noexcept = default;
  CallsById(const CallsById&) = delete;
  CallsById& operator=(const CallsById&) = delete;
  ~CallsById() {
    while (!nodes_.empty()) take_first();
  }

  // Requirement: the set has no call with this id.
  void add(PreparedCall call) noexcept { nodes_.insert(*std::exchange(call.node_, nullptr)); }
  // Removes and returns the call with this id; empty if there is none.
  PreparedCall take(uint64_t id) noexcept;

 private:
  struct IdOf {
    using type = uint64_t;
    type operator()(const PreparedCall::Node& node) const noexcept { return node.id; }
  };
  PreparedCall take_first() noexcept;

  boost::intrusive::set<PreparedCall::Node, boost::intrusive::key_of_value<IdOf>,
                        boost::intrusive::constant_time_size<false>>
      nodes_;
};

}  // namespace millrace::queue
