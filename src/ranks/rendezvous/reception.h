// Reception: a listening socket, and the peers that have connected to it and have not yet proved
// that they are ranks. Anybody may connect; a peer that resets the connection, sends something
// else, or sends nothing in time is dropped. Such peers take a bounded amount of memory and a few
// log lines. Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "base/unique_fd.h"
#include "ranks/communicator.h"
#include "ranks/rendezvous/messages.h"

namespace millrace::ranks {

class Reception {
 public:
  Reception(const Reception&) = delete;
  Reception& operator=(const Reception&) = delete;

 protected:
  // A peer that has connected and was sent a challenge. It then sends a message (kSpeaks), and
  // stays connected (kStays) or was refused (kRefused).
  struct Guest {
    UniqueFd socket;
    std::string from;  // address of the peer
    Deadline patience;
    Nonce asked{};                   // the nonce in its challenge
    std::vector<std::byte> message;  // as large as the message is expected to be so far
    size_t received = 0;             // bytes of it that have arrived
    enum class State : uint8_t { kSpeaks, kStays, kRefused } state = State::kSpeaks;
    uint32_t rank = 0;  // valid once it stays

    // Returns the beginning of the message, which has arrived, as a Message.
    template <class Message>
    Message as() const noexcept;
  };
  // The verdict on a guest whose message has arrived: it is dropped; sends more, since hear() has
  // enlarged the message, or has refused it; stays connected and sends nothing more; or its socket
  // was moved elsewhere.
  enum class Verdict : uint8_t { kGoes, kSaysMore, kStays, kTaken };

  // `place` names the listener in the log. Messages are expected to have `head_bytes` bytes at
  // first. Up to `ranks` guests may stay, and kStrangers others may be connected.
  Reception(UniqueFd listener, std::string place, size_t head_bytes, uint32_t ranks)
      : listener_(std::move(listener)),
        place_(std::move(place)),
        head_bytes_(head_bytes),
        ranks_(ranks) {}
  ~Reception() = default;

  // Waits for events, at most a tenth of a second or until the deadline of `limit`; then accepts
  // connections and reads messages.
  void step(const Limit& limit);
  // Closes the listening socket.
  void stop_listening() noexcept { listener_ = UniqueFd(); }
  int listener() const noexcept { return listener_.get(); }
  const std::string& place() const noexcept { return place_; }
  std::list<Guest>& guests() noexcept { return guests_; }
  const std::list<Guest>& guests() const noexcept { return guests_; }

  // Sends a guest that follows the protocol the reason why it is refused, and logs it. The
  // connection stays open until the guest closes it: it may still be sending, and closing would
  // discard the answer.
  Verdict refuse(Guest& guest, std::span<const std::byte> answer, std::string_view reason);

 private:
  // Called when the message of a guest has arrived.
  virtual Verdict hear(Guest& guest) = 0;

  void take_in();
  // Handles the events of a guest. Returns false if it has to be dropped.
  bool attend(Guest& guest, bool is_ready);
  bool read(Guest& guest);
  static bool hear_out(Guest& guest);
  bool note_stranger(const std::string& from, std::string_view why);

  UniqueFd listener_;
  const std::string place_;
  const size_t head_bytes_;
  const uint32_t ranks_;
  std::list<Guest> guests_;  // in the order of their arrival
  uint64_t refusals_ = 0, strangers_ = 0;
};

template <class Message>
Message Reception::Guest::as() const noexcept {
  Message value;
  std::memcpy(&value, message.data(), sizeof(value));
  return value;
}

}  // namespace millrace::ranks
