// SeenReasons: the set of reasons for which errors have been logged, so that each is logged once.
//
// The reason is the text without its numbers: "job 7: no such job" and "job 8: no such job" have
// the same one. The set has a fixed size and allocates nothing; texts are compared by a 64-bit
// hash. Not thread-safe.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace millrace {

class SeenReasons {
 public:
  static constexpr size_t kMost = 256;

  enum class Answer {
    kNew,     // the reason is new
    kSeen,    // the reason is not new, or the set has been full before
    kTooMany  // the reason is new, and the first one for which the set has no room
  };
  // Adds the reason of a text, unless it is known or the set is full.
  Answer note(std::string_view component, std::string_view text) noexcept;

 private:
  std::array<uint64_t, kMost> hashes_{};
  size_t count_ = 0;
  bool too_many_ = false;
};

}  // namespace millrace
