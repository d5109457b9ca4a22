// Finds the cases of the ONNX backend tests and their data sets, which are folders:
//
//   DIR/<suite>/<case>/model.onnx
//                      test_data_set_<k>/input_<i>.pb, output_<i>.pb
//
// Thread-safe.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/status.h"

namespace millrace::cli {

struct TestCase {
  std::string name;  // "node/test_abs": the suite's folder and the case's
  std::filesystem::path folder;

  std::string model_path() const { return (folder / "model.onnx").string(); }
};

// Returns the suite of a case: the folder with which its name begins.
std::string suite_of(const std::string& case_name);

// Returns the cases of the suites node, simple, pytorch-converted and pytorch-operator below
// `directory`, in the order of their names. The content of their folders is not checked. kNotFound
// if there are no cases; kIoError.
Result<std::vector<TestCase>> find_cases(const std::string& directory);

// Whether the pattern with shell wildcards matches "node/test_abs", or "test_abs" alone.
bool fits_pattern(const std::string& case_name, const std::string& pattern);

// Returns the folders of the data sets of a case, in the order of their names. kIoError.
Result<std::vector<std::filesystem::path>> find_data_sets(const TestCase& test);

// Returns how many files <prefix>0.pb, <prefix>1.pb, ... a data set has before the first gap.
size_t count_tensors(const std::filesystem::path& data_set, const std::string& prefix);

}  // namespace millrace::cli
