// A peer uses two slots: one for frames, with windows of its own, and one for longer data, with
// windows on the caller's memory, which are kept for reuse.
#include "ranks/peer.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <utility>

namespace millrace::ranks {

Result<std::unique_ptr<Peer>> Peer::open(Transport& transport, uint32_t rank, uint64_t slot) {
  std::unique_ptr<Peer> peer(new Peer(transport, rank, slot));
  const auto bytes_of = [](Frame& frame) { return std::as_writable_bytes(std::span(&frame, 1)); };
  MILLRACE_ASSIGN_OR_RETURN(peer->out_, transport.open_window(bytes_of(*peer->sent_)));
  MILLRACE_ASSIGN_OR_RETURN(peer->in_, transport.open_window(bytes_of(*peer->received_)));
  peer->release_frame();
  return peer;
}

Status Peer::send_frame(const Signature& signature, std::span<const std::byte> data) {
  sent_->signature = signature;
  sent_->announced_bytes = data.size();
  const size_t held = data.size() <= kFrameData ? data.size() : 0;
  if (held != 0) std::memcpy(sent_->data, data.data(), held);
  return out_->send(rank_, slot_, offsetof(Frame, data) + held);
}

Status Peer::receive_frame(WaitCheck& check) {
  MILLRACE_RETURN_IF_ERROR(next_frame_posted_);
  MILLRACE_RETURN_IF_ERROR(in_->wait_received(check));
  holds_frame_ = true;
  return {};
}

void Peer::release_frame() {
  holds_frame_ = false;
  next_frame_posted_ = in_->receive(rank_, slot_);
}

void Peer::send_reason(const Status& reason) {
  last_ = std::make_unique_for_overwrite<Frame>();
  last_->signature.operation = Operation::kGivenUp;
  last_->signature.bytes = static_cast<uint64_t>(reason.code());
  const std::string_view text = reason.message();
  last_->announced_bytes =
      text.copy(reinterpret_cast<char*>(last_->data), std::min<size_t>(text.size(), 512));
  Result<std::unique_ptr<Window>> window =
      transport_.open_window(std::as_writable_bytes(std::span(last_.get(), 1)));
  if (!window.ok()) return;
  last_out_ = *std::move(window);
  // This fails if the peer itself has ended.
  const Status sent = last_out_->send(rank_, slot_, offsetof(Frame, data) + last_->announced_bytes);
  if (!sent.ok()) last_out_.reset();
}

Status Peer::received_reason() const {
  const bool differs =
      received_->signature.bytes == static_cast<uint64_t>(StatusCode::kInvalidArgument);
  return {differs ? StatusCode::kInvalidArgument : StatusCode::kIoError,
          std::string(reinterpret_cast<const char*>(received_->data),
                      std::min<size_t>(received_->announced_bytes, kFrameData))};
}

void Peer::await_end(WaitCheck& check) {
  while (!holds_frame_ || !has_received_reason()) {
    if (holds_frame_) release_frame();
    if (!receive_frame(check).ok()) return;
  }
}

Result<Window*> Peer::window_on(std::span<std::byte> memory) {
  const auto kept = std::ranges::find_if(borrowed_, [&](const Borrowed& borrowed) {
    return borrowed.memory.data() == memory.data() && borrowed.memory.size() == memory.size();
  });
  if (kept != borrowed_.end()) return kept->window.get();
  Borrowed* replaced = nullptr;
  do {  // the window of a message in progress must not be replaced
    replaced = &borrowed_[oldest_borrowed_++ % kKeptWindows];
  } while (replaced->window != nullptr &&
           (replaced->window.get() == sending_ || replaced->window.get() == receiving_));
  *replaced = {};
  MILLRACE_ASSIGN_OR_RETURN(replaced->window, transport_.open_window(memory));
  replaced->memory = memory;
  return replaced->window.get();
}

Status Peer::begin_send(std::span<const std::byte> data) {
  // The const_cast is safe, since the window only reads this memory.
  const std::span memory(const_cast<std::byte*>(data.data()), data.size());
  MILLRACE_ASSIGN_OR_RETURN(Window* const window, window_on(memory));
  sending_ = window;
  return window->send(rank_, slot_ + 1, data.size());
}

Status Peer::begin_receive(std::span<std::byte> data) {
  MILLRACE_ASSIGN_OR_RETURN(Window* const window, window_on(data));
  receiving_ = window;
  return window->receive(rank_, slot_ + 1);
}

Status Peer::end_send(WaitCheck& check) {
  Window* const window = std::exchange(sending_, nullptr);
  return window == nullptr ? Status() : window->wait_sent(check);
}

Status Peer::end_receive(WaitCheck& check) {
  Window* const window = std::exchange(receiving_, nullptr);
  return window == nullptr ? Status() : window->wait_received(check);
}

}  // namespace millrace::ranks
