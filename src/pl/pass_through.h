// The built-in kernel pass_through(in, out, words), which copies `words` 32-bit words.
#pragma once

#include "millrace/pl_kernel.h"

namespace millrace::pl {

extern const millrace_pl_kernel kPassThrough;

}  // namespace millrace::pl
