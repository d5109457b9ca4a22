// The built-in kernel pass_through(in_r, out_r, size), which copies `size` beats from its first
// buffer to its second. Its arguments are those of the kernel in the board's bitstream.
//
// A beat is what the kernel's bus transfers in one cycle: 64 bytes in the newest bitstreams, a
// 32-bit word in older ones. The environment variable MILLRACE_PL_BEAT_BYTES states its size.
// Without it a beat is 64 bytes, unless so many do not fit into the buffers and so many words do:
// then a program of the older kind must have called, and words are copied. A warning says so once.
#pragma once

#include "millrace/pl_kernel.h"

namespace millrace::pl {

extern const millrace_pl_kernel kPassThrough;

}  // namespace millrace::pl
