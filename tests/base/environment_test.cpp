#include "base/settings/environment.h"

#include <gmock/gmock.h>

#include <cstdlib>

namespace millrace {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const char* kName = "MILLRACE_TEST_ENVIRONMENT_VALUE";

class Environment : public ::testing::Test {
 protected:
  ~Environment() override { ::unsetenv(kName); }

  static void set(const char* text) { ASSERT_EQ(::setenv(kName, text, 1), 0); }
};

TEST_F(Environment, HasTheTextOfAVariable) {
  EXPECT_EQ(environment_variable(kName), "");
  set("text");
  EXPECT_EQ(environment_variable(kName), "text");
}

TEST_F(Environment, ListsTheVariablesThatAreNotEmpty) {
  ::setenv("MILLRACE_TEST_ENVIRONMENT_OTHER", "", 1);
  set("text");
  EXPECT_THAT(variables_with_prefix("MILLRACE_TEST_ENVIRONMENT_"), ElementsAre(kName));
  ::unsetenv("MILLRACE_TEST_ENVIRONMENT_OTHER");
}

TEST_F(Environment, ReadsNumbersInARange) {
  EXPECT_EQ(*number_variable(kName, 7, 1, 10), 7u);
  set("10");
  EXPECT_EQ(*number_variable(kName, 7, 1, 10), 10u);
  for (const char* const wrong : {"0", "11", "-1", "1 ", "0x1", "ten"}) {
    set(wrong);
    const Status status = number_variable(kName, 7, 1, 10).status();
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument) << wrong;
    EXPECT_THAT(status.message(), HasSubstr(kName));
  }
}

TEST_F(Environment, ReadsSwitchesInAnyCase) {
  EXPECT_TRUE(*switch_variable(kName, true));
  for (const char* const on : {"1", "true", "TRUE"}) {
    set(on);
    EXPECT_TRUE(*switch_variable(kName, false)) << on;
  }
  for (const char* const off : {"0", "false", "False"}) {
    set(off);
    EXPECT_FALSE(*switch_variable(kName, true)) << off;
  }
  set("yes");
  EXPECT_THAT(switch_variable(kName, true).status().message(), HasSubstr(kName));
}

}  // namespace
}  // namespace millrace
