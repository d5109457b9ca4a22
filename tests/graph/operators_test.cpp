#include "graph/operators.h"

#include <gtest/gtest.h>

#include "graph/compiled_model.h"

namespace millrace::graph {
namespace {

TEST(Names, OfOperators) {
  EXPECT_STREQ(name_of(Operator(Conv{})), "Conv");
  EXPECT_STREQ(name_of(Operator(MatMul{})), "MatMul");
  EXPECT_STREQ(name_of(Operator(Concat{})), "Concat");
  EXPECT_STREQ(name_of(Operator(Gather{})), "Gather");
  EXPECT_STREQ(name_of(Operator(Resize{})), "Resize");
  EXPECT_STREQ(name_of(Operator(Expand{})), "Expand");
}

TEST(Names, OfFunctions) {
  EXPECT_STREQ(name_of(UnaryKind::kIdentity), "Identity");
  EXPECT_STREQ(name_of(UnaryKind::kHardSwish), "HardSwish");
  EXPECT_STREQ(name_of(UnaryKind::kLinear), "Linear");
  EXPECT_STREQ(name_of(BinaryKind::kAdd), "Add");
  EXPECT_STREQ(name_of(BinaryKind::kPrelu), "Prelu");
}

TEST(Names, OfNumbersOutsideTheLists) {
  EXPECT_STREQ(name_of(static_cast<UnaryKind>(200)), "?");
  EXPECT_STREQ(name_of(static_cast<BinaryKind>(200)), "?");
}

TEST(Names, OfPrecisions) {
  EXPECT_STREQ(name_of(Precision::kFp32), "fp32");
  EXPECT_STREQ(name_of(Precision::kBf16), "bf16");
}

}  // namespace
}  // namespace millrace::graph
