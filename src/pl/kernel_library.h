// Looks up software kernels by name: first those of a shared library, which exports the function
// millrace_pl_kernels (millrace/pl_kernel.h), then the built-in one, so that the library may
// replace it. A library is loaded at the first look-up and never unloaded. Thread-safe.
#pragma once

#include <string>
#include <vector>

#include "base/status.h"
#include "millrace/pl_kernel.h"

namespace millrace::pl {

// Returns the kernel `name`, which may be followed by compute units as in "scale:{scale_1}".
// `library` is a path; if it is empty, the environment variable MILLRACE_PL_KERNELS may name the
// library. kNotFound, with the names of the known kernels; kUnsupported when the library cannot be
// loaded or is not valid.
Result<const millrace_pl_kernel*> find_kernel(const std::string& name,
                                              const std::string& library = {});

// Returns all kernels of the library, and the built-in one unless the library has its name. Fails
// as find_kernel() does.
Result<std::vector<const millrace_pl_kernel*>> list_kernels(const std::string& library = {});

}  // namespace millrace::pl
