// Compares one random graph on the CPU device with the plain kernels.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace millrace::test {

// Makes the graph of that seed, runs it, and returns what is wrong with the results, with the graph
// and a command that repeats it; nothing where they are right.
std::optional<std::string> check_graph(uint64_t seed);

}  // namespace millrace::test
