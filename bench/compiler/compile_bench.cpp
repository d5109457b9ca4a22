// Measures how the time and peak memory of compiling and decoding grow with the size of a model:
// with n, 2n and 4n of each kind of element that a file may contain many times.
//
//   build/release/bench/compile_bench [n]
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "graph/archive/codec.h"
#include "tests/compiler/large_models.h"

namespace {

using millrace::compiler::test::LargeModel;

struct Cost {
  double seconds = 0;
  long kibibytes = 0;
};

// Compiles and decodes the model in a child process, whose peak memory is then that of this model.
Cost cost_of(const LargeModel& model, size_t size) {
  const auto begin = std::chrono::steady_clock::now();
  const pid_t child = fork();
  if (child == 0) {
    const auto path =
        std::filesystem::temp_directory_path() / fmt::format("growth-{}.onnx", getpid());
    const auto status = millrace::compiler::test::compile_and_decode(model.content(size), path);
    std::filesystem::remove(path);
    if (!status.ok()) fmt::print("{}\n", status.to_string());
    _exit(status.ok() ? 0 : 1);
  }
  rusage usage{};
  int state = 0;
  wait4(child, &state, 0, &usage);
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
  return {taken.count(), usage.ru_maxrss};
}

bool is_boundary(const LargeModel& model) {
  return std::string_view(model.grows) == "inputs" || std::string_view(model.grows) == "outputs";
}

}  // namespace

int main(int argc, char** argv) {
  const size_t most = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 20'000;
  fmt::print("{:<44}{:>9}{:>9}{:>9}   {:>7}{:>7}{:>7}\n", "seconds and MiB for n, 2n, 4n", "s", "s",
             "s", "MiB", "MiB", "MiB");
  for (const LargeModel& model : millrace::compiler::test::large_models()) {
    const size_t size =
        is_boundary(model) ? std::min(most, millrace::graph::kMaxBoundaries / 4) : most;
    Cost costs[3];
    for (size_t i = 0; i < 3; ++i) costs[i] = cost_of(model, size << i);
    fmt::print("{:<44}{:>9.2f}{:>9.2f}{:>9.2f}   {:>7}{:>7}{:>7}\n",
               fmt::format("{} {}", size, model.grows), costs[0].seconds, costs[1].seconds,
               costs[2].seconds, costs[0].kibibytes >> 10, costs[1].kibibytes >> 10,
               costs[2].kibibytes >> 10);
  }
}
