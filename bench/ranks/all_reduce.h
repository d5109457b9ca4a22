// Compares the all-reduce of Millrace with that of Gloo.
#pragma once

namespace millrace::bench {

// Prints the median times of both and the median ratio, for several sizes and numbers of ranks.
void report_all_reduce();

}  // namespace millrace::bench
