// All-reduce over our transport beside Gloo's own.
#pragma once

namespace millrace::bench {

// Prints the medians of both and of their ratios, for several sizes and numbers of ranks.
void report_all_reduce();

}  // namespace millrace::bench
