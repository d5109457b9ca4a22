// samples/x_plus_ml on the software NPU, in a directory of its own.
#pragma once

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/support/subprocess.h"
#include "tests/support/temporary_directory.h"

namespace millrace::test {

using Json = nlohmann::ordered_json;

class XPlusMlTest : public testing::Test {
 protected:
  XPlusMlTest() { std::filesystem::create_directory(work_); }

  ProgramResult run(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), MILLRACE_X_PLUS_ML);
    return run_program(arguments, work_);
  }
  ProgramResult run(const Json& config, const std::string& input,
                    const std::vector<std::string>& flags = {}) const {
    std::vector<std::string> arguments = {"--app-config", write("app.json", config.dump()),
                                          "--input-file", input};
    arguments.insert(arguments.end(), flags.begin(), flags.end());
    return run(arguments);
  }

  std::string compiled(const std::string& onnx, const std::string& name,
                       const std::string& precision) const {
    const std::string path = directory_.file(name);
    const ProgramResult result =
        run_program({MILLRACE_PROGRAM, "compile", onnx, "-o", path, "--precision", precision},
                    directory_.path().string());
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return path;
  }

  static Json app(const std::vector<Json>& models) { return {{"models-config", models}}; }

  std::string write(const std::string& name, const std::string& content) const {
    const std::string path = directory_.file(name);
    std::filesystem::create_directories(std::filesystem::path(path).parent_path());
    std::ofstream(path, std::ios::binary) << content;
    return path;
  }
  // The text of a file that the program has written.
  std::string output(const std::string& name) const {
    std::ifstream file(work_ + "/output/" + name, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  // The names of all files that the program left, in order.
  std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(work_))
      if (entry.is_regular_file()) names.push_back(entry.path().filename().string());
    std::sort(names.begin(), names.end());
    return names;
  }

  TemporaryDirectory directory_;
  const std::string work_ = directory_.file("work");
};

}  // namespace millrace::test
