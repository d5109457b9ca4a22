// What is said at a rendezvous. Both messages have one size for a given number of ranks, so nothing
// in them decides how much is read or allocated.
//
//   a rank -> rank 0:   JoinHead, then a card for every rank, in their order
//   rank 0 -> a rank:   Answer, then, if the rank is admitted, the card for it of every rank
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace millrace::ranks {

// "mlranks2": the digit rises with every change of what ranks send each other, at a rendezvous or
// later.
inline constexpr uint64_t kRendezvousMagic = 0x32736b6e61726c6d;
inline constexpr uint32_t kMostRanks = 1024;
inline constexpr size_t kTokenBytes = 64;

// By which one rank finds another. What is in it is the transport's matter.
using Card = std::array<std::byte, 192>;
// Padded with zeros.
using Token = std::array<char, kTokenBytes>;

struct JoinHead {
  uint64_t magic = kRendezvousMagic;
  uint32_t rank = 0;
  uint32_t ranks = 0;  // that there are
  Token token{};
};

struct Answer {
  uint64_t magic = kRendezvousMagic;
  uint64_t session = 0;  // a number that only the ranks of this rendezvous know
  uint32_t admitted = 0;
  uint32_t reserved = 0;
  std::array<char, 232> reason{};  // why not; text that ends with a zero
};

}  // namespace millrace::ranks
