// Peer: sends frames and data to one other rank of a group and receives them from it. Not
// thread-safe.
//
// Each operation begins with a frame from every rank of a group to every other. It holds the
// signature of the operation and, if they are short, the data. A receive for the next frame is
// always posted, so a frame takes one trip. Longer data follow after the signatures were compared,
// so data always have the expected size.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <string_view>

#include "base/status.h"
#include "ranks/signature.h"
#include "ranks/transport.h"

namespace millrace::ranks {

// The number of data bytes that fit in a frame. Copying that many takes less time than another
// trip.
inline constexpr size_t kFrameData = 65536;

class Peer {
 public:
  // Posts the receive of the first frame. `slot` and the one after it belong to this peer.
  static Result<std::unique_ptr<Peer>> open(Transport& transport, uint32_t rank, uint64_t slot);

  uint32_t rank() const noexcept { return rank_; }

  // Begins to send a frame, which states the size of `data`, and contains them if they fit.
  Status send_frame(const Signature& signature, std::span<const std::byte> data);
  // Waits until the frame has left its memory: the peer gets it even if this process then ends.
  Status end_send_frame(WaitCheck& check) { return out_->wait_sent(check); }
  // Waits for the peer's frame. It is valid until release_frame(), which posts the receive of the
  // next one. If that fails, the peer has ended, and the next receive_frame() returns the failure.
  Status receive_frame(WaitCheck& check);
  const Signature& signature() const noexcept { return received_->signature; }
  uint64_t announced_bytes() const noexcept { return received_->announced_bytes; }
  const std::byte* frame_data() const noexcept { return received_->data; }
  void release_frame();

  // Sends the last frame, with the reason why this rank ends. A peer that waits for a frame
  // receives it before the connection ends; any other peer only sees the end of the connection.
  void send_reason(const Status& reason);
  // Return whether the received frame is the peer's last one, and the reason in it. Its code is
  // kInvalidArgument if the ranks have made different calls, else kIoError.
  bool has_received_reason() const noexcept {
    return received_->signature.operation == Operation::kGivenUp;
  }
  Status received_reason() const;
  // Waits until the peer has ended, or has sent the reason why it ends, or `check` ends the wait.
  void await_end(WaitCheck& check);

  // Send and receive longer data. Each end_ function returns when the memory of the message that
  // was last begun may be used; at once, if none was begun since the last call.
  Status begin_send(std::span<const std::byte> data);
  Status begin_receive(std::span<std::byte> data);
  Status end_send(WaitCheck& check);
  Status end_receive(WaitCheck& check);

 private:
  struct Frame {
    Signature signature;
    uint64_t announced_bytes = 0;
    std::byte data[kFrameData];
  };
  struct Borrowed {
    std::span<std::byte> memory;
    std::unique_ptr<Window> window;
  };
  // The number of windows on the program's memory that are kept, since programs use the same memory
  // again and again.
  static constexpr size_t kKeptWindows = 8;

  Peer(Transport& transport, uint32_t rank, uint64_t slot) noexcept
      : transport_(transport), rank_(rank), slot_(slot) {}
  Result<Window*> window_on(std::span<std::byte> memory);

  Transport& transport_;
  const uint32_t rank_;
  const uint64_t slot_;
  // They are not initialised, so the system allocates their pages only on first use.
  const std::unique_ptr<Frame> sent_ = std::make_unique_for_overwrite<Frame>();
  const std::unique_ptr<Frame> received_ = std::make_unique_for_overwrite<Frame>();
  std::array<Borrowed, kKeptWindows> borrowed_;
  size_t oldest_borrowed_ = 0;
  Window* sending_ = nullptr;
  Window* receiving_ = nullptr;
  Status next_frame_posted_;
  bool holds_frame_ = false;     // a frame was received and not yet released
  std::unique_ptr<Frame> last_;  // the frame of send_reason()
  std::unique_ptr<Window> out_, in_, last_out_;
};

}  // namespace millrace::ranks
