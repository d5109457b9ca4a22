#include "cli/conformance/operator_table.h"

#include <gmock/gmock.h>

#include "tests/compiler/onnx_builder.h"

namespace millrace::test {
namespace {

using cli::CaseResult;
using cli::Verdict;
using compiler::test::Model;
using testing::HasSubstr;

CaseResult result(const std::string& name, Verdict verdict, const std::string& reason = "") {
  return {{name, {}}, {.verdict = verdict, .reason = reason}};
}

// The compiler's own words, so that a change of them is noticed here.
std::string refusal() {
  Model model;
  model.input("x", {1, 4}).input("axis", {1}, ::onnx::TensorProto::INT64).output("y");
  model.node("Relu", {"x"}, {"r"})
      .node("NotThere", {"r"}, {"n"})
      .node("ReduceSum", {"r", "axis"}, {"s"});
  return model.node("Add", {"n", "s"}, {"y"}).import().status().message();
}

TEST(ReasonFor, IsTheCompilersOwnWithoutNames) {
  const std::string reason = refusal();
  EXPECT_EQ(cli::reason_for("NotThere", reason), "the operator is not supported") << reason;
  EXPECT_EQ(cli::reason_for("ReduceSum", reason), "its input is not a constant") << reason;
  EXPECT_EQ(cli::reason_for("Relu", reason), "") << reason;
  EXPECT_EQ(cli::reason_for("Add", reason), "") << reason;
}

TEST(ReasonFor, AWholeModelGivesItToEveryOperator) {
  EXPECT_EQ(cli::reason_for("Relu", "the model uses opset 6"), "the model uses opset 6");
  EXPECT_EQ(cli::reason_for("Relu", "input 'x': doubles"), "input: doubles");
}

TEST(OperatorPage, CountsACaseForEachOfItsOperators) {
  const std::vector<CaseResult> results = {result("node/a", Verdict::kPass),
                                           result("node/b", Verdict::kUnsupported, refusal()),
                                           result("node/c", Verdict::kFail, "wrong | <b>"),
                                           result("simple/d", Verdict::kExcluded, "training")};
  const cli::CaseOperators operators = {
      {"node/a", {{"ai.onnx", "Relu", 13}}},
      {"node/b", {{"ai.onnx", "Relu", 17}, {"ai.onnx", "NotThere", 17}}},
      {"node/c", {{"com.example", "Own", 1}}},
      {"simple/d", {{"ai.onnx", "Relu", 9}}}};
  const std::string page = cli::operator_page(results, operators);
  EXPECT_THAT(
      page, HasSubstr("\n| Relu | 13, 17 | 2 | 1 | 0 | 1 | other operators of the model (1) |\n"));
  EXPECT_THAT(
      page, HasSubstr("\n| NotThere | 17 | 1 | 0 | 0 | 1 | the operator is not supported (1) |\n"));
  EXPECT_THAT(page, HasSubstr("\n| com.example.Own | 1 | 1 | 0 | 1 | 0 |  |\n"));
  EXPECT_THAT(page, HasSubstr("\n| node | 3 | 0 | 3 | 1 | 1 | 1 |\n"));
  EXPECT_THAT(page, HasSubstr("\n| all | 4 | 1 | 3 | 1 | 1 | 1 |\n"));
  EXPECT_THAT(page, HasSubstr("\n| node/c | wrong \\| \\<b\\> |\n"));
  EXPECT_THAT(page, HasSubstr("\n| simple/d | training |\n"));
}

TEST(OperatorPage, SaysThatNothingFailed) {
  const std::vector<CaseResult> results = {result("node/a", Verdict::kPass)};
  EXPECT_THAT(cli::operator_page(results, {}), HasSubstr("## Failures\n\nNone.\n"));
}

}  // namespace
}  // namespace millrace::test
