// Connection: sends and receives the messages between this rank and one other.
//
// A rank that posts a receive announces the slot and the size of the memory to the other side,
// which sends a message only after that. So every byte that arrives has a place in the memory of a
// window, and nothing is buffered. Two kinds of messages are sent:
//
//   kReady  slot, bytes: a receive of up to that size is posted for that slot
//   kData   slot, bytes, and then the data for the oldest receive that is posted for that slot
//
// If the window of a receive is destroyed, the next receive of the slot takes its place, since the
// other side knows of it already. A message that arrives before there is one is dropped.
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
  // Registers the socket with `epoll`, with `id` as its user data. `epoll` must outlive this
  // object.
  static Result<std::unique_ptr<Connection>> open(UniqueFd socket, int epoll, uint32_t id);

  // Post a message. Both fail when the connection has ended, and may throw std::bad_alloc, without
  // any change then. The memory must stay valid until the window is notified that the message is
  // complete, or forget() is called.
  Status send(TcpWindow& window, uint64_t slot, std::span<const std::byte> data);
  Status receive(TcpWindow& window, uint64_t slot, std::span<std::byte> memory);
  // Stops all access to the window and its memory. If a message of the window has been sent in
  // part, the connection ends.
  void forget(TcpWindow& window) noexcept;

  // Called by the thread that waits for the epoll: reads and writes as much as possible without
  // blocking. A failure ends the connection.
  void on_events(uint32_t events) noexcept;
  // Fails all messages that are not complete, and all later ones.
  void end(const Status& why) noexcept;

 private:
  enum class Kind : uint32_t { kReady = 1, kData = 2 };
  // The header of a message, sent as its bytes in memory: all hosts must have the same byte order.
  struct Head {
    Kind kind = Kind::kReady;
    uint32_t reserved = 0;
    uint64_t slot = 0;
    uint64_t bytes = 0;
  };
  // A message to send.
  struct Outgoing {
    Head head;
    TcpWindow* window = nullptr;  // null for kReady
    const std::byte* data = nullptr;
    size_t written = 0;  // bytes of header and data that were written so far

    size_t size() const noexcept { return sizeof(Head) + (window == nullptr ? 0 : head.bytes); }
  };
  // A posted receive.
  struct Incoming {
    TcpWindow* window = nullptr;  // null if the message is dropped
    std::byte* memory = nullptr;
    uint64_t room = 0;
  };
  // The receiving side of one slot.
  struct InSlot {
    Fifo<Incoming> posted;
    uint64_t forgotten = 0;  // announced receives whose windows are gone and were not replaced
  };
  // The sending side of one slot. At most one of the two is not empty.
  struct OutSlot {
    uint64_t awaited = 0;  // receives that the other side has announced, without a message so far
    Fifo<Outgoing> held;   // messages without an announced receive so far
  };

  Connection(UniqueFd socket, int epoll, uint32_t id) noexcept
      : socket_(std::move(socket)), epoll_(epoll), id_(id) {}

  // Requirement of the following functions: the lock for sending is held.
  void put(const Outgoing& outgoing);
  void flush() noexcept;
  void watch(bool for_room) noexcept;
  void forget_outgoing(TcpWindow& window) noexcept;

  // Requirement of the following functions: the lock for receiving is held.
  Status read();
  Result<size_t> read_some();
  Status begin_message();
  void note_ready(uint64_t slot);
  void end_message() noexcept;
  // Returns how many bytes of the header, or then of the data, have not arrived yet.
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
  bool waits_for_room_ = false;  // whether epoll watches for EPOLLOUT
  // Set when sending has failed. Data that have arrived are still read, and may contain the reason.
  bool is_broken_ = false;
  Status failure_;  // written with both locks held
};

}  // namespace millrace::ranks
