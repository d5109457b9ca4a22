#include "base/max_isa.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

namespace millrace {
namespace {

class MaxIsaVariable : public ::testing::Test {
 protected:
  static Result<MaxIsa> with(const char* text) {
    setenv("MILLRACE_MAX_ISA", text, 1);
    return max_isa();
  }
  ~MaxIsaVariable() override { unsetenv("MILLRACE_MAX_ISA"); }
};

TEST_F(MaxIsaVariable, NamesAnInstructionSetInAnyCase) {
  EXPECT_EQ(*with("avx2"), MaxIsa::kAvx2);
  EXPECT_EQ(*with("AVX512"), MaxIsa::kAvx512);
  EXPECT_EQ(*with("avx512_vnni"), MaxIsa::kAvx512Vnni);
  EXPECT_EQ(*with("avx512_bf16"), MaxIsa::kAvx512Bf16);
  EXPECT_EQ(*with("amx"), MaxIsa::kAmx);
}

TEST_F(MaxIsaVariable, IsNoLimitWhereItIsNotSet) {
  EXPECT_EQ(*with(""), MaxIsa::kAmx);
  unsetenv("MILLRACE_MAX_ISA");
  EXPECT_EQ(*max_isa(), MaxIsa::kAmx);
}

TEST_F(MaxIsaVariable, AnotherNameIsAnErrorThatSaysWhatThereIs) {
  const Result<MaxIsa> isa = with("avx513");
  EXPECT_EQ(isa.status().code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(isa.status().message(),
              ::testing::AllOf(::testing::HasSubstr("MILLRACE_MAX_ISA is \"avx513\""),
                               ::testing::HasSubstr("avx512_vnni")));
}

}  // namespace
}  // namespace millrace
