// Transport: point-to-point messages between ranks, on which a communicator is built. A message
// goes from one rank to another, in a numbered slot (like a tag in MPI). Messages of the same pair
// and slot arrive in the order in which they were sent, and match the receives of that pair and
// slot in the order in which those were posted. Send and receive may be posted in either order.
//
// Thread-safe, except that a window must be used by one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "base/status.h"

namespace millrace::ranks {

// Decides how long a wait lasts.
class WaitCheck {
 public:
  // Called at least ten times a second on the waiting thread. A failure ends the wait, which
  // returns it.
  virtual Status check() noexcept = 0;

 protected:
  ~WaitCheck() = default;
};

// A region of memory from which messages are sent and into which they are received; a message
// always begins at its start. The memory belongs to the caller. When the window is destroyed,
// incomplete messages are dropped, and the memory is no longer accessed.
class Window {
 public:
  Window() = default;
  Window(const Window&) = delete;
  Window& operator=(const Window&) = delete;
  virtual ~Window() = default;

  // Post a message, and return at once. A message must not be larger than the window into which it
  // is received.
  virtual Status send(uint32_t to, uint64_t slot, size_t bytes) = 0;
  virtual Status receive(uint32_t from, uint64_t slot) = 0;
  // Wait for one posted message that was not waited for yet: until the sent memory may be
  // overwritten, or the received message is complete. kIoError when the connection has ended.
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
  // Creates a window, which the transport must outlive.
  virtual Result<std::unique_ptr<Window>> open_window(std::span<std::byte> memory) = 0;
  // Ends all connections at once: waits fail, on this rank and on the others.
  virtual void close() noexcept = 0;
};

}  // namespace millrace::ranks
