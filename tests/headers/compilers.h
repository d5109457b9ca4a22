// The compilers that client programs are built with, where this machine has them.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <ostream>
#include <string>
#include <vector>

#include "source_dir.h"
#include "tests/support/subprocess.h"

namespace millrace::test {

struct Compiler {
  std::string name;
  std::string path;  // as CMake's find_program left it; ends in NOTFOUND when there is none

  bool found() const { return std::filesystem::exists(path); }
};

// How a test's name in ctest shows its compiler.
inline void PrintTo(const Compiler& compiler, std::ostream* out) {
  *out << compiler.name;
}

inline std::vector<Compiler> compilers() {
  return {{"gxx", MILLRACE_GXX}, {"clangxx", MILLRACE_CLANGXX}};
}

inline std::vector<std::string> header_names() {
  std::vector<std::string> names;
  for (const auto& file : std::filesystem::directory_iterator(MILLRACE_SOURCE_DIR "/include/vart"))
    names.push_back(file.path().filename().string());
  return names;
}

// Compiles `source` with all warnings as errors and `more` options; what the compiler says when it
// refuses.
inline std::string complaints(const Compiler& compiler, const std::string& standard,
                              const std::string& source,
                              const std::vector<std::string>& more = {}) {
  std::vector<std::string> command = {
      compiler.path, "-std=" + standard, "-fsyntax-only", "-Wall",
      "-Wextra",     "-Wpedantic",       "-Werror",       "-I" MILLRACE_SOURCE_DIR "/include"};
  command.insert(command.end(), more.begin(), more.end());
  command.push_back(source);
  const ProgramResult result = run_program(command, "/");
  return result.exit_code == 0 ? "" : "exit code not 0: " + result.out + result.err;
}

}  // namespace millrace::test
