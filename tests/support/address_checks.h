// Whether the build finds every wrong access and every leak (AddressSanitizer).
#pragma once

namespace millrace::test {

#if defined(__SANITIZE_ADDRESS__)
inline constexpr bool kChecksAddresses = true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
inline constexpr bool kChecksAddresses = true;
#else
inline constexpr bool kChecksAddresses = false;
#endif
#else
inline constexpr bool kChecksAddresses = false;
#endif

}  // namespace millrace::test
