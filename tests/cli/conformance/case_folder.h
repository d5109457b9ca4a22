// A folder of test cases that a test makes: models of one operator, with their data.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "cli/conformance/test_case.h"
#include "io/file.h"
#include "tests/compiler/onnx_builder.h"
#include "tests/support/temporary_directory.h"

namespace millrace::test {

inline void write_bytes(const std::filesystem::path& path, const std::string& bytes) {
  std::filesystem::create_directories(path.parent_path());
  ASSERT_TRUE(io::write_file(path.string(), std::as_bytes(std::span(bytes))).ok()) << path;
}

class CaseFolder {
 public:
  std::string path() const { return directory_.path().string(); }

  // Makes a case of the operator `type` with the input "x", {1, -2, 3}, and the expected output
  // `y`.
  cli::TestCase add(const std::string& name, const std::string& type,
                    const std::vector<float>& y) const {
    compiler::test::Model model;
    model.input("x", {3}).output("y", ::onnx::TensorProto::FLOAT).node(type, {"x"}, {"y"});
    const cli::TestCase test{name, directory_.path() / name};
    write_bytes(test.model_path(), model.bytes());
    write_tensor(test, "input_0.pb", {1, -2, 3});
    write_tensor(test, "output_0.pb", y);
    return test;
  }

  static std::filesystem::path data_path(const cli::TestCase& test, const std::string& file) {
    return test.folder / "test_data_set_0" / file;
  }
  static void write_tensor(const cli::TestCase& test, const std::string& file,
                           const std::vector<float>& values) {
    write_bytes(data_path(test, file),
                compiler::test::tensor("", {static_cast<int64_t>(values.size())}, values)
                    .SerializeAsString());
  }

 private:
  TemporaryDirectory directory_;
};

}  // namespace millrace::test
