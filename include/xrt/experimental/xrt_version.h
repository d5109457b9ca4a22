// The version of the interface. A stand-in for the header of the board's runtime; see xrt/xrt_bo.h.
// C++17 and later.
#ifndef XRT_EXPERIMENTAL_XRT_VERSION_H
#define XRT_EXPERIMENTAL_XRT_VERSION_H

#pragma GCC visibility push(default)

namespace xrt::version {

// The release of XRT whose interface this is, as pkg-config says it; not that of Millrace.
unsigned int major();
unsigned int minor();
unsigned int patch();
unsigned int code();  // the major version times 65536, and the minor one
// 0: numbers of the vendor's builds.
unsigned int build();
unsigned int feature();

}  // namespace xrt::version

#pragma GCC visibility pop

#endif  // XRT_EXPERIMENTAL_XRT_VERSION_H
