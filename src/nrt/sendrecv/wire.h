// The protocol of a connection between two cores, with all integers in little-endian order:
//
//   sender     Greeting: the numbers of the sending and the receiving core
//   receiver   the answer to the Greeting, once a communicator expects that sender
//   sender     for each tensor: MessageHead, followed by MessageHead::bytes bytes
//
// Received values are not trusted: each is compared with what is expected, and none determines how
// much memory is allocated.
#pragma once

#include <bit>
#include <cstdint>

namespace millrace::nrt::sendrecv {

static_assert(std::endian::native == std::endian::little);

struct Greeting {
  static constexpr uint32_t kQuestion = 0x5352'524d, kAnswer = 0x5a52'524d;  // "MRRS", "MRRZ"
  static constexpr uint32_t kVersion = 1;

  uint32_t magic = kQuestion;
  uint32_t version = kVersion;
  int32_t from_core = 0;
  int32_t to_core = 0;

  bool operator==(const Greeting&) const = default;
};
static_assert(sizeof(Greeting) == 16);

constexpr Greeting answer_to(Greeting greeting) noexcept {
  greeting.magic = Greeting::kAnswer;
  return greeting;
}

struct MessageHead {
  static constexpr uint64_t kMagic = 0x5452'4e53'5252'4d01;

  uint64_t magic = kMagic;
  uint64_t bytes = 0;  // number of bytes that follow
};
static_assert(sizeof(MessageHead) == 16);

}  // namespace millrace::nrt::sendrecv
