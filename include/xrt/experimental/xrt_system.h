// The devices of the machine. A stand-in for the header of the board's runtime; see xrt/xrt_bo.h.
// C++17 and later.
#ifndef XRT_EXPERIMENTAL_XRT_SYSTEM_H
#define XRT_EXPERIMENTAL_XRT_SYSTEM_H

#pragma GCC visibility push(default)

namespace xrt::system {

// 1: every index is a device in software, and programs that count up to here use one.
unsigned int enumerate_devices();

}  // namespace xrt::system

#pragma GCC visibility pop

#endif  // XRT_EXPERIMENTAL_XRT_SYSTEM_H
