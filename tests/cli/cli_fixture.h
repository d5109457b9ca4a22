// Fixture of the tests of the `millrace` program: a folder of their own and the shipped network.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "source_dir.h"
#include "tests/support/subprocess.h"
#include "tests/support/temporary_directory.h"

namespace millrace::test {

inline const std::string kGlyphsOnnx = MILLRACE_SOURCE_DIR "/models/glyphs/glyphs.onnx";
inline const std::string kGlyphsFolder = MILLRACE_SOURCE_DIR "/models/glyphs/";

class CliTest : public testing::Test {
 protected:
  ProgramResult millrace(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), MILLRACE_PROGRAM);
    return run_program(arguments, directory_.path().string());
  }

  // Compiles the shipped network to `name` in the test's folder and returns the path.
  std::string compiled(const std::string& name, std::vector<std::string> flags = {}) const {
    std::vector<std::string> arguments = {"compile", kGlyphsOnnx, "-o", file(name)};
    arguments.insert(arguments.end(), flags.begin(), flags.end());
    const ProgramResult result = millrace(arguments);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return file(name);
  }

  std::string file(const std::string& name) const { return directory_.file(name); }

  // A failure is exit code 1 and one line on standard error that names `culprit`.
  static void expect_failure(const ProgramResult& result, const std::string& culprit) {
    expect_one_line(result, 1, culprit);
  }
  // A wrong command line is exit code 2 and such a line, which also names the help to look at.
  static void expect_wrong_command_line(const ProgramResult& result, const std::string& culprit) {
    expect_one_line(result, 2, culprit);
    EXPECT_NE(result.err.find("--help)"), std::string::npos) << result.err;
  }

  TemporaryDirectory directory_;

 private:
  static void expect_one_line(const ProgramResult& result, int exit_code,
                              const std::string& culprit) {
    EXPECT_EQ(result.exit_code, exit_code) << result.out << result.err;
    EXPECT_EQ(std::ranges::count(result.err, '\n'), 1) << result.err;
    EXPECT_TRUE(result.err.starts_with("millrace: ")) << result.err;
    EXPECT_NE(result.err.find(culprit), std::string::npos) << result.err;
  }
};

}  // namespace millrace::test
