// Request: one tensor, or a part of one, on its way. A communicator has a fixed number of them,
// which it uses again and again.
//
// One thread fills it in and posts it, the service's thread moves the bytes and publishes the
// result, and one thread at a time asks for that. Nothing but `state` is accessed by two threads at
// the same time.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

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
  // Publishes the result; no longer needs the tensor.
  void finish(Status status, size_t bytes) noexcept {
    storage.reset();
    access = {};
    result = std::move(status);
    moved = bytes;
    state.store(State::kDone, std::memory_order_release);
  }

  std::atomic<State> state{State::kFree};
  Communicator* owner = nullptr;
  nrt_async_sendrecv_request* handle = nullptr;  // the program's

  std::byte* data = nullptr;
  size_t bytes = 0;  // to send, or that there is room for
  std::shared_ptr<const Storage> storage;
  memory::HostAccess access;  // to the bytes
  int64_t posted_ns = 0;

  Status result;
  size_t moved = 0;
};

}  // namespace millrace::nrt::sendrecv

struct nrt_async_sendrecv_request : millrace::nrt::Handle<millrace::nrt::sendrecv::Request> {};

namespace millrace::nrt::sendrecv {
using RequestHandles = Handles<nrt_async_sendrecv_request>;
}  // namespace millrace::nrt::sendrecv
