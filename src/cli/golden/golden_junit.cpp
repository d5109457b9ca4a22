#include "cli/golden/golden_junit.h"

#include <fmt/format.h>

#include <span>

#include "cli/report/junit.h"

namespace millrace::cli {
namespace {

JunitCase test_case(const ComparedFile& compared, const Tolerances& tolerances) {
  JunitCase test;
  test.classname = compared.tensor;
  test.name = compared.file.path;
  const std::string figures = figures_of(compared.comparison);
  if (compared.comparison.within) {
    test.output = figures;
    return test;
  }
  test.verdict = JunitVerdict::kFailed;
  test.message = fmt::format("not equal within {}", describe(tolerances));
  test.text = figures + first_difference_of(compared.comparison);
  return test;
}

}  // namespace

std::string golden_junit(const std::string& model, const std::vector<ComparedFile>& files,
                         const Tolerances& tolerances) {
  JunitSuite suite;
  suite.name = model;
  for (const ComparedFile& file : files) suite.cases.push_back(test_case(file, tolerances));
  return junit_text(std::span(&suite, 1));
}

}  // namespace millrace::cli
