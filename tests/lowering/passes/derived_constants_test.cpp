// Constants that graphs of one model share.
#include "lowering/passes/derived_constants.h"

#include <gtest/gtest.h>

#include <vector>

namespace millrace::lowering {
namespace {

using graph::Constant;

class Derived : public ::testing::Test {
 protected:
  // The constant that `operation` makes of the source; counts how often it has to be made.
  Constant get(const std::string& operation = "doubled") {
    return derived_.get(source_, operation, [this] {
      ++made_;
      return Constant::of(std::vector<float>{2 * source_.as<float>()[0]});
    });
  }
  DerivedConstants derived_;
  Constant source_ = Constant::of(std::vector<float>{3});
  int made_ = 0;
};

TEST_F(Derived, AreMadeOnceWhileAGraphHasThem) {
  const Constant first = get();
  EXPECT_EQ(first.as<float>()[0], 6);
  EXPECT_EQ(get().bytes.data(), first.bytes.data());
  EXPECT_EQ(made_, 1);
}

TEST_F(Derived, AreMadeAgainOnceNoGraphHasThem) {
  get();
  EXPECT_EQ(get().as<float>()[0], 6);
  EXPECT_EQ(made_, 2);
}

TEST_F(Derived, BelongToAnOperation) {
  const Constant first = get("doubled"), second = get("halved");
  EXPECT_NE(first.bytes.data(), second.bytes.data());
  EXPECT_EQ(made_, 2);
}

// Another constant may lie at the address of one that is gone.
TEST_F(Derived, BelongToASourceThatLives) {
  const Constant first = get();
  const Constant other{source_.bytes, std::make_shared<int>()};
  source_ = Constant::of(std::vector<float>{3});
  derived_.get(other, "doubled", [this] {
    ++made_;
    return Constant::of(std::vector<float>{8});
  });
  EXPECT_EQ(made_, 2);
}

}  // namespace
}  // namespace millrace::lowering
