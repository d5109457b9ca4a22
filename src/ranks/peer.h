// Peer: one other rank of a group, as this one sees it: frames and data that go there and come from
// there. For one thread at a time.
//
// Each operation begins with a frame from every rank of a group to every other. It holds the
// signature of the operation and, where they are short, the data. A receive for the next frame is
// always posted, so frames take one trip. Longer data follow once the signatures are known to
// match, so what arrives never differs in size from what is expected.
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

// Bytes that fit in a frame: a message of this size costs less to copy than another trip takes.
inline constexpr size_t kFrameData = 65536;

class Peer {
 public:
  // Posts the receive of the first frame. `slot` and the one after it belong to this peer.
  static Result<std::unique_ptr<Peer>> open(Transport& transport, uint32_t rank, uint64_t slot);

  uint32_t rank() const noexcept { return rank_; }

  // Begins to send a frame, which announces `data`, and holds them where they fit.
  Status send_frame(const Signature& signature, std::span<const std::byte> data);
  // Returns when the frame has left its memory: the peer gets it even if this process ends then.
  Status end_send_frame(WaitCheck& check) { return out_->wait_sent(check); }
  // The peer's frame. It is valid until release_frame(), which posts the receive of the next one.
  // If that fails, the peer has ended after what it has sent: the next receive_frame() says so.
  Status receive_frame(WaitCheck& check);
  const Signature& signature() const noexcept { return received_->signature; }
  uint64_t announced_bytes() const noexcept { return received_->announced_bytes; }
  const std::byte* frame_data() const noexcept { return received_->data; }
  void release_frame();

  // The last frame, with the reason why this rank ends. It reaches a peer that waits for a frame
  // before the connection ends; any other sees that end.
  void send_reason(const Status& reason);
  // Tells whether the last frame of the peer was received; and the reason in it, with its code
  // here: kInvalidArgument where the ranks make different calls, else kIoError.
  bool has_received_reason() const noexcept {
    return received_->signature.operation == Operation::kGivenUp;
  }
  Status received_reason() const;
  // Waits until the peer has ended, or has said why it will, or `check` ends the wait.
  void await_end(WaitCheck& check);

  // Longer data. Each end returns when the memory of the message that was begun last may be used;
  // at once, if none was begun since.
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
  // Windows on the program's memory are kept, since programs use the same memory again and again.
  static constexpr size_t kKeptWindows = 8;

  Peer(Transport& transport, uint32_t rank, uint64_t slot) noexcept
      : transport_(transport), rank_(rank), slot_(slot) {}
  Result<Window*> window_on(std::span<std::byte> memory);

  Transport& transport_;
  const uint32_t rank_;
  const uint64_t slot_;
  // The system gives their memory where it is first used.
  const std::unique_ptr<Frame> sent_ = std::make_unique_for_overwrite<Frame>();
  const std::unique_ptr<Frame> received_ = std::make_unique_for_overwrite<Frame>();
  std::array<Borrowed, kKeptWindows> borrowed_;
  size_t oldest_borrowed_ = 0;
  Window* sending_ = nullptr;
  Window* receiving_ = nullptr;
  Status next_frame_posted_;
  bool holds_frame_ = false;     // one that was received and not released
  std::unique_ptr<Frame> last_;  // with the reason
  std::unique_ptr<Window> out_, in_, last_out_;
};

}  // namespace millrace::ranks
