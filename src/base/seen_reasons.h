// SeenReasons: for which reasons errors have been logged, so that each is logged once.
//
// The reason is the text without its numbers: "job 7: no such job" and "job 8: no such job" have
// the same one. Of fixed size and without allocations; texts are compared by a 64-bit hash. Not
// thread-safe.
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
    kNew,     // the first text with this reason
    kSeen,    // not the first, or there have been too many reasons
    kTooMany  // the first reason after kMost others
  };
  Answer note(std::string_view component, std::string_view text) noexcept;

 private:
  std::array<uint64_t, kMost> hashes_{};
  size_t count_ = 0;
  bool too_many_ = false;
};

}  // namespace millrace
