// Request: the send or receive of a tensor, or of a part of one. A communicator has a fixed number
// of them, which it reuses.
//
// One thread fills a request in and posts it. The service's thread moves the bytes and publishes
// the result. Then one thread at a time may read the result. Only `state` is accessed by several
// threads at the same time.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "base/exchange_events.h"
#include "base/status.h"
#include "memory/host_access.h"
#include "nrt/objects/handles.h"
#include "nrt/objects/tensor.h"

struct nrt_async_sendrecv_request;

namespace millrace::nrt::sendrecv {

class Communicator;

struct Request {
  // kFree -> kPending -> kDone -> kFree
  enum class State : uint8_t { kFree, kPending, kDone };

  bool done() const noexcept { return state.load(std::memory_order_acquire) == State::kDone; }
  // Publishes the result, after dropping the reference to the tensor's memory.
  void finish(Status status, size_t bytes) noexcept {
    storage.reset();
    access = {};
    result = std::move(status);
    moved = bytes;
    state.store(State::kDone, std::memory_order_release);
  }

  std::atomic<State> state{State::kFree};
  Communicator* owner = nullptr;
  nrt_async_sendrecv_request* handle = nullptr;  // the handle that the program has

  std::byte* data = nullptr;
  size_t bytes = 0;  // number of bytes to send, or the most that can be received
  std::shared_ptr<const Storage> storage;
  memory::HostAccess access;  // host access to the bytes
  int64_t posted_ns = 0;
  std::optional<ExchangeId> exchange;  // set since it is the first of its communicator's queue

  Status result;
  size_t moved = 0;  // number of bytes that were sent or received
};

}  // namespace millrace::nrt::sendrecv

struct nrt_async_sendrecv_request : millrace::nrt::Handle<millrace::nrt::sendrecv::Request> {};

namespace millrace::nrt::sendrecv {
using RequestHandles = Handles<nrt_async_sendrecv_request>;
}  // namespace millrace::nrt::sendrecv
