// Code that fuzz targets share. A target defines fuzz_one(); the engine is libFuzzer. A finding is
// what the sanitizers report, an input that takes too much time or memory, and an expectation that
// does not hold.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

#include "base/status.h"
#include "base/unique_fd.h"

namespace millrace::fuzz {

using Input = std::span<const std::byte>;

// Runs the library on the input; each target defines it.
void fuzz_one(Input input);

inline std::string_view text_of(Input input) {
  return {reinterpret_cast<const char*>(input.data()), input.size()};
}

// Ends the process when `held` is false, so that the engine keeps the input.
inline void expect(bool held, std::string_view what, std::string_view detail = {}) {
  if (held) return;
  std::fprintf(stderr, "expected: %.*s; %.*s\n", static_cast<int>(what.size()), what.data(),
               static_cast<int>(detail.size()), detail.data());
  std::abort();
}

// A caller can act on a refusal: it has a reason, and one of the codes of the reader's contract.
inline void expect_refusal(const Status& status, std::initializer_list<StatusCode> codes) {
  expect(std::ranges::count(codes, status.code()) != 0, "another code", status.to_string());
  expect(!status.message().empty(), "a message", status.to_string());
}

// A file without a directory, for readers that take a path.
class InputFile {
 public:
  explicit InputFile(Input content) : file_(::memfd_create("input", MFD_CLOEXEC)) {
    const ssize_t written = ::write(file_.get(), content.data(), content.size());
    expect(written == static_cast<ssize_t>(content.size()), "a file in memory");
  }
  std::string path() const { return "/proc/self/fd/" + std::to_string(file_.get()); }

 private:
  const UniqueFd file_;
};

}  // namespace millrace::fuzz
