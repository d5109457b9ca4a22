// Settings of the board's runtime. A stand-in for its header; see xrt/xrt_bo.h. C++17 and later.
#ifndef XRT_EXPERIMENTAL_XRT_INI_H
#define XRT_EXPERIMENTAL_XRT_INI_H

#include <string>

#pragma GCC visibility push(default)

namespace xrt::ini {

// Accepted without effect, since what the keys of xrt.ini configure is not here; the log has a line
// at debug level. Thread-safe.
void set(const std::string& key, const std::string& value);
inline void set(const std::string& key, unsigned int value) {
  set(key, std::to_string(value));
}

}  // namespace xrt::ini

#pragma GCC visibility pop

#endif  // XRT_EXPERIMENTAL_XRT_INI_H
