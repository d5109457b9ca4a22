// Checks a given number of random graphs: random_graphs COUNT [SEED]
#include <fmt/format.h>

#include <chrono>
#include <cstdlib>

#include "tests/random_graphs/check_graph.h"

int main(int argc, char** argv) {
  if (argc < 2 || argc > 3) {
    fmt::print(stderr, "usage: random_graphs COUNT [SEED]\n");
    return 2;
  }
  const uint64_t count = std::strtoull(argv[1], nullptr, 10);
  const uint64_t first = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 0;
  const auto begin = std::chrono::steady_clock::now();
  uint64_t wrong = 0;
  for (uint64_t i = 0; i < count; ++i) {
    const auto failure = millrace::test::check_graph(first + i);
    if (!failure) continue;
    ++wrong;
    fmt::print("{}\n\n", *failure);
    std::fflush(stdout);
  }
  const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - begin;
  fmt::print("{} of {} graphs wrong, seeds from {} on, {:.0f} s\n", wrong, count, first,
             passed.count());
  return wrong == 0 ? 0 : 1;
}
