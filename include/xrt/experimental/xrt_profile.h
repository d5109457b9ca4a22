// Marks of programs in a trace. A stand-in for the header of the board's runtime; see xrt/xrt_bo.h.
// C++17 and later.
//
// The board's runtime ignores marks unless its settings ask for a trace; here there is never one,
// so all calls do nothing.
#ifndef XRT_EXPERIMENTAL_XRT_PROFILE_H
#define XRT_EXPERIMENTAL_XRT_PROFILE_H

#include <chrono>

#pragma GCC visibility push(default)

namespace xrt::profile {

class user_range {
 public:
  user_range() = default;
  explicit user_range(const char* /*label*/, const char* /*tooltip*/ = nullptr) {}
  user_range(const user_range&) = delete;
  user_range& operator=(const user_range&) = delete;

  void start(const char* /*label*/, const char* /*tooltip*/ = nullptr) {}
  void end() {}
};

class user_event {
 public:
  void mark(const char* /*label*/ = nullptr) {}
  void mark_time_ns(const std::chrono::nanoseconds&, const char* /*label*/ = nullptr) {}
};

}  // namespace xrt::profile

#pragma GCC visibility pop

#endif  // XRT_EXPERIMENTAL_XRT_PROFILE_H
