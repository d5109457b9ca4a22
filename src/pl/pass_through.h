// The kernel that is built in: pass_through(in, out, words) copies 32-bit words.
#pragma once

#include "millrace/pl_kernel.h"

namespace millrace::pl {

extern const millrace_pl_kernel kPassThrough;

}  // namespace millrace::pl
