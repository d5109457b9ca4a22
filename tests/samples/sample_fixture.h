// The sample programs on a tiny model and the null device, in a directory of their own.
#pragma once

#include <gmock/gmock.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/support/subprocess.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/tiny_model.h"

namespace millrace::test {

using Json = nlohmann::ordered_json;

class SampleTest : public testing::Test {
 protected:
  static constexpr size_t kRowBytes = 4 * 4 * 4 * 4;         // "data" as [4, 1, 4, 1, 4] FLOAT32
  static constexpr size_t kOutputBytes = 4 * 2 * 4 * 8 * 4;  // "probs" as [4, 2, 4, 1, 8]

  SampleTest() {
    setenv("MILLRACE_DEVICE", "null", 1);
    std::filesystem::create_directory(work_);
  }
  ~SampleTest() override { unsetenv("MILLRACE_DEVICE"); }

  ProgramResult run(const std::string& program, std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), program);
    return run_program(arguments, work_);
  }

  // The path of a compiled tiny model.
  std::string model(const TinyModelOptions& options = {}) const {
    const std::string path = directory_.file("tiny.rai");
    EXPECT_TRUE(write_tiny_model(path, options).ok());
    return path;
  }

  // A raw input file of `rows` rows of the HW view, plus `extra` bytes.
  std::string ifm(size_t rows, size_t extra = 0) const {
    return write("ifm.bin", std::string(rows * kRowBytes + extra, '\5'));
  }

  std::string config(const Json& json) const { return write("config.json", json.dump()); }

  std::string write(const std::string& name, const std::string& content) const {
    std::ofstream(directory_.file(name), std::ios::binary) << content;
    return directory_.file(name);
  }

  // Every file that the program left, by its path below the directory it ran in.
  std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(work_))
      if (entry.is_regular_file())
        names.push_back(std::filesystem::relative(entry.path(), work_).string());
    return names;
  }
  size_t size_of(const std::string& name) const {
    std::error_code missing;
    return std::filesystem::file_size(work_ + "/" + name, missing);
  }

  // Exit code 1 and a reason on standard error; nothing written.
  void expect_failure(const ProgramResult& result, const std::string& reason) const {
    EXPECT_EQ(result.exit_code, 1) << result.out;
    EXPECT_THAT(result.err, testing::HasSubstr("Error: "));
    EXPECT_THAT(result.err, testing::HasSubstr(reason));
    EXPECT_THAT(files(), testing::IsEmpty());
  }

  TemporaryDirectory directory_;
  const std::string work_ = directory_.file("work");
};

}  // namespace millrace::test
