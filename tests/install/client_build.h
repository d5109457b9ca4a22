// A client program, built in a folder of its own against the staged installation.
#pragma once

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "source_dir.h"
#include "tests/support/subprocess.h"
#include "tests/support/temporary_directory.h"

namespace millrace::test {

inline const std::string kPrefix = MILLRACE_STAGE "/prefix";
inline const std::string kLibraries = kPrefix + "/" MILLRACE_LIBRARY_DIR;
inline const std::string kPkgConfigPath = "PKG_CONFIG_PATH=" + kLibraries + "/pkgconfig";

// For a test that needs the staged installation.
#define MILLRACE_NEED_INSTALLATION() \
  ASSERT_TRUE(std::filesystem::exists(kPrefix)) << "run ctest, whose fixture installs the build"

// Runs `command` in an environment that refers to no other installation of Millrace; `more` is
// added to the environment, as NAME=VALUE.
inline ProgramResult run_clean(const std::vector<std::string>& command,
                               const std::string& directory,
                               const std::vector<std::string>& more = {}) {
  std::vector<std::string> words = {"/usr/bin/env"};
  for (const char* name : {"LD_LIBRARY_PATH", "PKG_CONFIG_PATH", "CMAKE_PREFIX_PATH",
                           "MILLRACE_PLUGIN_DIR", "MILLRACE_DEVICE", "CFLAGS", "CXXFLAGS",
                           "LDFLAGS", "CMAKE_CXX_COMPILER_LAUNCHER", "MAKEFLAGS", "MAKELEVEL"})
    words.insert(words.end(), {"-u", name});
  words.insert(words.end(), more.begin(), more.end());
  words.insert(words.end(), command.begin(), command.end());
  return run_program(words, directory);
}

class ClientBuild {
 public:
  // Builds the program in tests/install/`client`.
  explicit ClientBuild(const std::string& client = "client") {
    std::filesystem::copy(MILLRACE_SOURCE_DIR "/tests/install/" + client, directory_.path());
  }

  std::string path() const { return directory_.path().string(); }

  void build(const std::vector<std::string>& command, const std::vector<std::string>& more = {}) {
    const ProgramResult result = run_clean(command, path(), more);
    ASSERT_EQ(result.exit_code, 0) << result.out << result.err;
  }

  // The program, built as `name`, runs the model on libraries of the installation and no others.
  void runs(const std::string& name, const std::vector<std::string>& more = {}) {
    const ProgramResult result =
        run_clean({directory_.file(name), MILLRACE_STAGE "/model.rai"}, path(), more);
    ASSERT_EQ(result.exit_code, 0) << result.err;
    EXPECT_THAT(result.out, ::testing::HasSubstr("INPUT "));
    EXPECT_THAT(result.out, ::testing::HasSubstr("OUTPUT "));
    EXPECT_THAT(result.out, ::testing::HasSubstr("\nSUCCESS\n"));
    for (const char* library :
         {"libvart-ml.so.0", "libmillrace.so.0", "libmillrace-cpu.so", "libmillrace-reserve.so"})
      EXPECT_THAT(result.out, ::testing::HasSubstr("loaded " + kLibraries + "/" + library));
  }

 private:
  TemporaryDirectory directory_;
};

}  // namespace millrace::test
