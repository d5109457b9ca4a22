// How calls of XRT fail that have no counterpart in software. Programs with such calls compile and
// link, and fail when they make one.
#ifndef XRT_DETAIL_NOT_EMULATED_H
#define XRT_DETAIL_NOT_EMULATED_H

#pragma GCC visibility push(default)

namespace xrt::detail {

// Throws std::system_error with the code std::errc::not_supported and a text that names `what`, the
// class or function, and what may be used instead of it.
[[noreturn]] void not_emulated(const char* what);

}  // namespace xrt::detail

#pragma GCC visibility pop

#endif  // XRT_DETAIL_NOT_EMULATED_H
