// Defines the messages at a rendezvous, and on each connection between two ranks. All have one size
// for a given number of ranks, so their content does not decide how much is read or allocated. The
// listening side speaks first; the connecting side then proves that it knows the secret, and learns
// from the answer whether the listening side knows it, too.
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

// "mlranks3": the digit rises with every change of what ranks send each other, at a rendezvous or
// later.
inline constexpr uint64_t kRendezvousMagic = 0x33736b6e61726c6d;
inline constexpr uint32_t kMostRanks = 1024;
inline constexpr size_t kTokenBytes = 64;

// A card says how one rank reaches another: text that ends with a zero byte.
using Card = std::array<std::byte, 192>;
// Random bytes that are used only once.
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
  uint32_t ranks = 0;  // that there are
  Nonce nonce{};
  Proof proof{};
};

struct Answer {
  uint64_t magic = kRendezvousMagic;
  uint32_t admitted = 0;
  uint32_t reserved = 0;
  SessionKey session{};
  Proof proof{};                   // set if the rank is admitted
  std::array<char, 232> reason{};  // why not; text that ends with a zero
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
