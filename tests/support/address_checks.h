// Tells whether the build finds every wrong access and every leak (AddressSanitizer), and lets
// tests ignore leaks of other libraries.
#pragma once

#if defined(__SANITIZE_ADDRESS__)
#define MILLRACE_CHECKS_ADDRESSES 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define MILLRACE_CHECKS_ADDRESSES 1
#endif
#endif

#ifdef MILLRACE_CHECKS_ADDRESSES
#include <sanitizer/lsan_interface.h>
#endif

namespace millrace::test {

#ifdef MILLRACE_CHECKS_ADDRESSES
inline constexpr bool kChecksAddresses = true;
#else
inline constexpr bool kChecksAddresses = false;
#endif

// Allocations of this thread while the object lives are not reported as leaked.
class LeaksAllowed {
 public:
#ifdef MILLRACE_CHECKS_ADDRESSES
  LeaksAllowed() {
    __lsan_disable();
  }
  ~LeaksAllowed() {
    __lsan_enable();
  }
#else
  LeaksAllowed() {}
  ~LeaksAllowed() {}
#endif
  LeaksAllowed(const LeaksAllowed&) = delete;
  LeaksAllowed& operator=(const LeaksAllowed&) = delete;
};

}  // namespace millrace::test
