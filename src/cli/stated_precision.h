// For commands that say how exact a model is: it computes in the precision that it states.
#pragma once

namespace millrace::cli {

// Has BF16 models computed in BF16 where the processor can at all, also where FP32 is faster, which
// programs use otherwise; but not where MILLRACE_NO_BF16 is set. Call before a model is loaded, in
// a process of one thread.
void compute_in_stated_precision();

}  // namespace millrace::cli
