// The cases of the ONNX backend tests, as folders:
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

// The folder that a case's name begins with.
std::string suite_of(const std::string& case_name);

// The cases of the suites node, simple, pytorch-converted and pytorch-operator below `directory`,
// in the order of their names. What is in their folders is not looked at. kNotFound when none of
// the suites is there; kIoError.
Result<std::vector<TestCase>> find_cases(const std::string& directory);

// Whether the pattern of shell wildcards fits "node/test_abs", or "test_abs" alone.
bool fits_pattern(const std::string& case_name, const std::string& pattern);

// The data sets of a case, in the order of their names.
Result<std::vector<std::filesystem::path>> find_data_sets(const TestCase& test);

// How many of the files <prefix>0.pb, <prefix>1.pb and so on a data set has, without a gap.
size_t count_tensors(const std::filesystem::path& data_set, const std::string& prefix);

}  // namespace millrace::cli
