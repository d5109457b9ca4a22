// The context of kernels on the board's processor. A stand-in for the header of the board's
// runtime; see xrt/xrt_bo.h. C++17 and later.
#ifndef XRT_EXPERIMENTAL_XRT_PSCONTEXT_H
#define XRT_EXPERIMENTAL_XRT_PSCONTEXT_H

#pragma GCC visibility push(default)

namespace xrt {

// A base for what such kernels keep between their runs; it has no members.
class pscontext {
 public:
  pscontext() = default;
};

}  // namespace xrt

#pragma GCC visibility pop

#endif  // XRT_EXPERIMENTAL_XRT_PSCONTEXT_H
