// Finds software kernels by name: the one that is built in, then those of a shared library
// (millrace/pl_kernel.h). Thread-safe.
#pragma once

#include <string>
#include <vector>

#include "base/status.h"
#include "millrace/pl_kernel.h"

namespace millrace::pl {

// The kernel `name`, which may be followed by its compute units as in "scale:{scale_1}". `library`
// is a path; when it is empty, the environment variable MILLRACE_PL_KERNELS names the library, if
// any. kNotFound, with the names that there are; kUnsupported where the library cannot be used.
Result<const millrace_pl_kernel*> find_kernel(const std::string& name,
                                              const std::string& library = {});

// All kernels of the same places. Fails as find_kernel does.
Result<std::vector<const millrace_pl_kernel*>> list_kernels(const std::string& library = {});

}  // namespace millrace::pl
