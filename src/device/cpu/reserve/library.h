// The loader's knowledge of oneDNN. Included by the reserve, which does not know oneDNN itself.
#pragma once

#include <oneapi/dnnl/dnnl_version.h>

#include <cstddef>

namespace millrace::device::cpu {

#define MILLRACE_DNNL_NAME_OF(major) "libdnnl.so." #major
#define MILLRACE_DNNL_NAME(major) MILLRACE_DNNL_NAME_OF(major)
// How the names of its files begin.
inline constexpr const char* kLibraryName = MILLRACE_DNNL_NAME(DNNL_VERSION_MAJOR);
#undef MILLRACE_DNNL_NAME
#undef MILLRACE_DNNL_NAME_OF

// Whether functions of the C++ library allocate for it, such as those of std::string, in places
// where a failure ends the process. In 3.7.2 such are the constructors of its Graph API.
inline constexpr bool kAllocatesInStandardLibrary = DNNL_VERSION_MAJOR > 2;

// Room for its variables that each thread has.
inline constexpr size_t kThreadVariableBytes = DNNL_VERSION_MAJOR == 2 ? 64 : 448;

}  // namespace millrace::device::cpu
