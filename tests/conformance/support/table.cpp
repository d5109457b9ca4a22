// Prints, at the end of a run, what came of every behaviour on every device.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <string>

#include "tests/conformance/support/behaviour.h"

namespace millrace::conformance {
namespace {

class Table final : public ::testing::EmptyTestEventListener {
 public:
  void OnTestPartResult(const ::testing::TestPartResult& part) override {
    if (part.skipped()) skip_message_ = part.message();
  }

  void OnTestEnd(const ::testing::TestInfo& test) override {
    rows_[test.test_suite_name()][test.name()] = outcome(*test.result());
    ++cases_;
  }

  void OnTestProgramEnd(const ::testing::UnitTest&) override {
    if (cases_ > 1) print();
  }

 private:
  std::string outcome(const ::testing::TestResult& result) {
    ++counts_[result.Failed() ? 2 : result.Skipped() ? 1 : 0];
    if (result.Failed()) return "FAIL";
    if (!result.Skipped()) return "pass";
    const size_t colon = skip_message_.find(": ");
    const std::string tag = skip_message_.substr(0, colon);
    reasons_[tag] = skip_message_.substr(colon + 2);
    return "skip (" + tag + ")";
  }

  void print() const {
    constexpr size_t kColumn = 16;
    size_t widest = 0;
    for (const auto& [behaviour, cells] : rows_) widest = std::max(widest, behaviour.size());
    std::string text = fmt::format("\n{:{}}", "behaviour", widest + 2);
    for (const Subject& subject : subjects()) text += fmt::format("{:{}}", subject.name, kColumn);
    for (const auto& [behaviour, cells] : rows_) {
      text += fmt::format("\n{:{}}", behaviour, widest + 2);
      for (const Subject& subject : subjects()) {
        const auto cell = cells.find(subject.name);
        text += fmt::format("{:{}}", cell == cells.end() ? "-" : cell->second, kColumn);
      }
    }
    text += fmt::format("\n{} passed, {} skipped, {} failed\n", counts_[0], counts_[1], counts_[2]);
    for (const auto& [tag, why] : reasons_) text += fmt::format("skip ({}): {}\n", tag, why);
    std::fputs(text.c_str(), stdout);
  }

  std::string skip_message_;  // of the case that runs: "tag: reason"
  std::map<std::string, std::map<std::string, std::string>> rows_;  // by behaviour and device
  std::map<std::string, std::string> reasons_;                      // by tag
  size_t counts_[3] = {};                                           // passed, skipped, failed
  size_t cases_ = 0;
};

// Adds the table where GoogleTest's own main runs the cases.
class TableEnvironment final : public ::testing::Environment {
 public:
  void SetUp() override { ::testing::UnitTest::GetInstance()->listeners().Append(new Table); }
};

[[maybe_unused]] const auto* const environment =
    ::testing::AddGlobalTestEnvironment(new TableEnvironment);

}  // namespace
}  // namespace millrace::conformance
