// The messages at a rendezvous, and those that identify the two ends of each connection between
// ranks. Their sizes depend only on the number of ranks, so their content does not decide how much
// is read or allocated. It is a mutual challenge-response protocol: the listening side sends a
// challenge; the connecting side proves that it knows the secret, with a challenge of its own; and
// the answer proves that the listening side knows the secret, too.
//
//   rank 0 -> a rank:   Challenge
//   a rank -> rank 0:   JoinHead, then a card for every rank, in their order
//   rank 0 -> a rank:   Answer, then, if the rank is admitted, the card for it of every rank
//
//   the lower rank -> the higher one:   Challenge
//   the higher rank -> the lower one:   LinkHead
//   the lower rank -> the higher one:   LinkAnswer
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace millrace::ranks {

// "mlranks3": the protocol version. The digit is incremented with every change of what ranks send
// to each other, at a rendezvous or later.
inline constexpr uint64_t kRendezvousMagic = 0x33736b6e61726c6d;
inline constexpr uint32_t kMostRanks = 1024;
inline constexpr size_t kTokenBytes = 64;

// How another rank reaches the one that sends the card: text that ends with a zero byte.
using Card = std::array<std::byte, 192>;
// Random bytes that are used only once, as a challenge.
using Nonce = std::array<std::byte, 32>;
// Shows that its sender knows a secret (proof.h).
using Proof = std::array<std::byte, 32>;
// Random bytes that only the ranks of one meeting know.
using SessionKey = std::array<std::byte, 32>;

struct Challenge {
  uint64_t magic = kRendezvousMagic;
  Nonce nonce{};
};

struct JoinHead {
  uint64_t magic = kRendezvousMagic;
  uint32_t rank = 0;
  uint32_t ranks = 0;  // the number of ranks
  Nonce nonce{};
  Proof proof{};
};

struct Answer {
  uint64_t magic = kRendezvousMagic;
  uint32_t admitted = 0;
  uint32_t reserved = 0;
  SessionKey session{};
  Proof proof{};                   // set if the rank is admitted
  std::array<char, 232> reason{};  // why it is not admitted; text that ends with a zero byte
};

struct LinkHead {
  uint64_t magic = kRendezvousMagic;
  uint32_t from = 0;
  uint32_t to = 0;
  Nonce nonce{};
  Proof proof{};
};

struct LinkAnswer {
  uint64_t magic = kRendezvousMagic;
  Proof proof{};
};

}  // namespace millrace::ranks
