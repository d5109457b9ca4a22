// Errors that devices report by themselves. A stand-in for the header of the board's runtime; see
// xrt/xrt_bo.h. C++17 and later.
#ifndef XRT_EXPERIMENTAL_XRT_ERROR_H
#define XRT_EXPERIMENTAL_XRT_ERROR_H

#include <cstdint>
#include <string>

#include "xrt/xrt_device.h"

// Names of XRT's interface for C.
using xrtErrorCode = uint64_t;
using xrtErrorTime = uint64_t;
enum xrtErrorClass {
  XRT_ERROR_CLASS_FIRST_ENTRY = 1,
  XRT_ERROR_CLASS_SYSTEM = XRT_ERROR_CLASS_FIRST_ENTRY,
  XRT_ERROR_CLASS_AIE,
  XRT_ERROR_CLASS_HARDWARE,
  XRT_ERROR_CLASS_UNKNOWN,
  XRT_ERROR_CLASS_LAST_ENTRY = XRT_ERROR_CLASS_UNKNOWN
};

#pragma GCC visibility push(default)

namespace xrt {

// The last error of a class. A device in software has none: code and time are 0.
class error {
 public:
  error(const device&, xrtErrorClass) {}
  // An error that the program has from elsewhere.
  error(xrtErrorCode code, xrtErrorTime timestamp) : code_(code), timestamp_(timestamp) {}

  xrtErrorTime get_timestamp() const { return timestamp_; }
  xrtErrorCode get_error_code() const { return code_; }
  // The code in hexadecimal digits; a line that says so if there is no error.
  std::string to_string() const;

 private:
  xrtErrorCode code_ = 0;
  xrtErrorTime timestamp_ = 0;
};

}  // namespace xrt

#pragma GCC visibility pop

#endif  // XRT_EXPERIMENTAL_XRT_ERROR_H
