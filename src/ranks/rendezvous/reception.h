// Reception: a listening socket, and those who have connected to it and have still to show that
// they belong there. Anybody may connect: who resets the connection, says something else, or
// nothing in time, is dropped. That costs a bounded amount of memory and a few lines of the log.
// For one thread.
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
  // One who has connected, was sent a challenge, and says a message.
  struct Guest {
    UniqueFd socket;
    std::string from;  // its address
    Deadline patience;
    Nonce asked{};                   // in its challenge
    std::vector<std::byte> message;  // as long as it is to be so far
    size_t received = 0;
    enum class State : uint8_t { kSpeaks, kStays, kRefused } state = State::kSpeaks;
    uint32_t rank = 0;  // once it stays

    // The message, which has arrived, as what it is.
    template <class Message>
    Message as() const noexcept;
  };
  // What becomes of a guest whose message has arrived: it goes, or says more, now that the message
  // is longer, or stays connected and says nothing more; or its socket was taken.
  enum class Verdict : uint8_t { kGoes, kSaysMore, kStays, kTaken };

  // `place` names the listener in the log. Messages have `head_bytes` at first. As many guests as
  // `ranks` may stay, and kStrangers besides.
  Reception(UniqueFd listener, std::string place, size_t head_bytes, uint32_t ranks)
      : listener_(std::move(listener)),
        place_(std::move(place)),
        head_bytes_(head_bytes),
        ranks_(ranks) {}
  ~Reception() = default;

  // Waits until something has happened, a tenth of a second or until the limit at most, and takes
  // in and hears who is there.
  void step(const Limit& limit);
  // Nobody else is taken in.
  void stop_listening() noexcept { listener_ = UniqueFd(); }
  int listener() const noexcept { return listener_.get(); }
  const std::string& place() const noexcept { return place_; }
  std::list<Guest>& guests() noexcept { return guests_; }
  const std::list<Guest>& guests() const noexcept { return guests_; }

  // Tells the guest, which speaks the right language, why it is not wanted, and logs it. It may
  // still be speaking: closed before that, the connection would take the answer with it.
  Verdict refuse(Guest& guest, std::span<const std::byte> answer, std::string_view reason);

 private:
  virtual Verdict hear(Guest& guest) = 0;

  void take_in();
  // False: the guest goes.
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
