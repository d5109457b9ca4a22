// Measures programs of several ranks: collectives compared with those of Gloo, and requests at the
// NRT face.
//
//   ranks_bench [all-reduce|requests|overlap]     all of them by default
//
// The ranks are threads of this process, which communicate over the loopback interface.
#include <fmt/format.h>

#include <exception>
#include <string_view>

#include "bench/ranks/all_reduce.h"
#include "bench/ranks/requests.h"

int main(int argc, char** argv) {
  const std::string_view part = argc > 1 ? argv[1] : "";
  try {
    if (part.empty() || part == "all-reduce") millrace::bench::report_all_reduce();
    if (part.empty() || part == "requests") millrace::bench::report_requests();
    if (part.empty() || part == "overlap") millrace::bench::report_overlap();
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "ranks_bench: {}\n", error.what());
    return 1;
  }
}
