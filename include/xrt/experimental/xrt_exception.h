// The base of exceptions that only XRT has. A stand-in for the header of the board's runtime; see
// xrt/xrt_bo.h. C++17 and later.
#ifndef XRT_EXPERIMENTAL_XRT_EXCEPTION_H
#define XRT_EXPERIMENTAL_XRT_EXCEPTION_H

#include <exception>

#pragma GCC visibility push(default)

namespace xrt {

// Nothing of this library throws it; programs may derive from it and catch it.
class exception : public std::exception {
 public:
  exception() = default;
};

}  // namespace xrt

#pragma GCC visibility pop

#endif  // XRT_EXPERIMENTAL_XRT_EXCEPTION_H
