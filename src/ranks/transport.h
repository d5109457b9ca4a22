// Transport: messages between ranks, as the algorithms of a communicator need them. A message goes
// from one rank to another, in a numbered slot; those of one pair and slot arrive in the order in
// which they were sent, and fill the receives of the pair and slot in the order in which those were
// posted. Both sides of a message may be posted first.
//
// Thread-safe, but for one window, which one thread uses at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "base/status.h"

namespace millrace::ranks {

// Decides how long a wait goes on.
class WaitCheck {
 public:
  // Called at least ten times a second on the waiting thread. A failure ends the wait and is what
  // it returns.
  virtual Status check() noexcept = 0;

 protected:
  ~WaitCheck() = default;
};

// Memory that messages are sent from and received into, of which it is one end: a message starts
// where the window does. The memory belongs to the caller. When the window is destroyed, messages
// that are not complete are dropped, and nothing accesses the memory any more.
class Window {
 public:
  Window() = default;
  Window(const Window&) = delete;
  Window& operator=(const Window&) = delete;
  virtual ~Window() = default;

  // Both return at once. A message must not be larger than the window that it is received in.
  virtual Status send(uint32_t to, uint64_t slot, size_t bytes) = 0;
  virtual Status receive(uint32_t from, uint64_t slot) = 0;
  // Each waits for one message that was posted and not waited for yet: until its memory may be
  // overwritten, or holds what was received. kIoError when the connection has ended.
  virtual Status wait_sent(WaitCheck& check) = 0;
  virtual Status wait_received(WaitCheck& check) = 0;
};

class Transport {
 public:
  Transport() = default;
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;
  virtual ~Transport() = default;

  virtual uint32_t rank() const noexcept = 0;
  virtual uint32_t size() const noexcept = 0;
  // The transport must live longer than the window.
  virtual Result<std::unique_ptr<Window>> open_window(std::span<std::byte> memory) = 0;
  // Ends all connections at once: what waits fails, here and at the other ranks.
  virtual void close() noexcept = 0;
};

}  // namespace millrace::ranks
