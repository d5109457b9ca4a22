// Stack: where in the program a call was made. Taking one costs some microseconds; names are looked
// up when it is reported. A value; thread-safe as such.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace millrace::check {

struct Call {
  std::string function;  // empty if unknown
  std::string path;      // of the library or program; empty if unknown
  uintptr_t offset = 0;  // the address within it that its file has, of the instruction of the call
};
// Returns a call as text, such as "main (program+0x1234)".
std::string text_of(const Call& call);

class Stack {
 public:
  Stack() noexcept = default;  // empty
  // Returns the stack of this thread.
  static Stack here() noexcept;

  bool empty() const noexcept { return count_ == 0; }
  // Returns the addresses of the calls, the innermost first.
  std::span<void* const> calls() const noexcept {
    return std::span(calls_).first(static_cast<size_t>(count_));
  }
  // Returns the calls with their names, the innermost first. Of the calls within Millrace only the
  // outermost of the innermost ones remains: the one that the program has made. They end with
  // main() or the function of the thread.
  std::vector<Call> named_calls() const;

 private:
  static constexpr int kMost = 32;
  std::array<void*, kMost> calls_{};
  int count_ = 0;
};

}  // namespace millrace::check
