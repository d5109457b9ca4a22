// Connection: sends and receives the messages between this rank and one other.
//
// A rank that posts a receive tells the other side the slot and the room for it; a message is sent
// once the other side is known to wait for it. So every byte that arrives has a place in the memory
// of a window, and nothing is buffered. Two kinds of messages are sent:
//
// kReady  slot, bytes: a message of up to that size is expected in that slot
//   kData   slot, bytes, and then the bytes of the oldest message that is waited for in that slot
//
// A receive whose window has been destroyed is taken over by the next receive of the slot, since
// the other side knows of it. If a message arrives before there is one, it is dropped.
//
// Thread-safe. The lock for receiving is taken before the lock for sending.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <unordered_map>

#include "base/status.h"
#include "base/unique_fd.h"
#include "ranks/tcp/fifo.h"
#include "ranks/tcp/tcp_window.h"

namespace millrace::ranks {

class Connection {
 public:
  // `epoll` is told to watch the connection for reading and writing, with `id`. It outlives this
  // object.
  static Result<std::unique_ptr<Connection>> open(UniqueFd socket, int epoll, uint32_t id);

  // Both fail when the connection has ended, and may throw bad_alloc without any change. The memory
  // must stay valid until the window is told that the message is complete, or is forgotten.
  Status send(TcpWindow& window, uint64_t slot, std::span<const std::byte> data);
  Status receive(TcpWindow& window, uint64_t slot, std::span<std::byte> memory);
  // Stops all access to the window and its memory. The connection ends if only a part of a message
  // in that memory has been sent.
  void forget(TcpWindow& window) noexcept;

  // Called by the thread that waits for the epoll: reads and writes as much as is possible now. A
  // failure ends the connection.
  void on_events(uint32_t events) noexcept;
  // Fails all messages that are not complete, and all later ones.
  void end(const Status& why) noexcept;

 private:
  enum class Kind : uint32_t { kReady = 1, kData = 2 };
  // The head as it is sent: all hosts have the same byte order.
  struct Head {
    Kind kind = Kind::kReady;
    uint32_t reserved = 0;
    uint64_t slot = 0;
    uint64_t bytes = 0;
  };
  // A message that is to be sent.
  struct Outgoing {
    Head head;
    TcpWindow* window = nullptr;  // null for kReady
    const std::byte* data = nullptr;
    size_t written = 0;  // bytes of the head and the data

    size_t size() const noexcept { return sizeof(Head) + (window == nullptr ? 0 : head.bytes); }
  };
  // A receive that was posted.
  struct Incoming {
    TcpWindow* window = nullptr;  // null where the message is dropped
    std::byte* memory = nullptr;
    uint64_t room = 0;
  };
  // One slot: receives that were posted, and those that were forgotten and not taken over.
  struct InSlot {
    Fifo<Incoming> posted;
    uint64_t forgotten = 0;
  };
  // One slot: messages to be sent, or receives of the other side without a message so far.
  struct OutSlot {
    uint64_t awaited = 0;
    Fifo<Outgoing> held;
  };

  Connection(UniqueFd socket, int epoll, uint32_t id) noexcept
      : socket_(std::move(socket)), epoll_(epoll), id_(id) {}

  // Requirement of these: the lock for sending is held.
  void put(const Outgoing& outgoing);
  void flush() noexcept;
  void watch(bool for_room) noexcept;
  void forget_outgoing(TcpWindow& window) noexcept;

  // Requirement of these: the lock for receiving is held.
  Status read();
  Result<size_t> read_some();
  Status begin_message();
  void note_ready(uint64_t slot);
  void end_message() noexcept;
  size_t missing() const noexcept {
    return head_bytes_ < sizeof(Head) ? sizeof(Head) - head_bytes_ : head_.bytes - body_bytes_;
  }

  const UniqueFd socket_;
  const int epoll_;
  const uint32_t id_;

  std::mutex receive_mutex_;  // guards the members up to the next blank line
  std::unordered_map<uint64_t, InSlot> in_;
  // The message that is being received.
  Head head_;
  Incoming current_;
  size_t head_bytes_ = 0, body_bytes_ = 0;  // bytes that have arrived

  std::mutex send_mutex_;  // guards the members below
  std::unordered_map<uint64_t, OutSlot> out_;
  Fifo<Outgoing> queue_;
  bool waits_for_room_ = false;
  // Nothing can be sent. Data that has arrived is still read, and may contain the reason.
  bool is_broken_ = false;
  Status failure_;  // written with both locks held
};

}  // namespace millrace::ranks
