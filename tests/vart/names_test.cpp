#include <gtest/gtest.h>

#include "vart/vart_runner_factory.hpp"

namespace vart {
namespace {

TEST(Names, AreThoseOfTheEnumerators) {
  EXPECT_EQ(vart::to_string(DataType::BF16), "BF16");
  EXPECT_EQ(vart::to_string(DataType::UINT64), "UINT64");
  EXPECT_EQ(vart::to_string(MemoryLayout::HCWNC4), "HCWNC4");
  EXPECT_EQ(vart::to_string(MemoryLayout::NH2C4HWC), "NH2C4HWC");
  EXPECT_EQ(vart::to_string(MemoryLayout::GENERIC), "GENERIC");
  EXPECT_EQ(vart::to_string(MemoryType::USER_POINTER_NON_CMA), "USER_POINTER_NON_CMA");
  EXPECT_EQ(vart::to_string(TensorDirection::OUTPUT), "OUTPUT");
  EXPECT_EQ(vart::to_string(TensorType::HW), "HW");
  EXPECT_EQ(vart::to_string(RoundingMode::ROUND_TO_NEAREST_EVEN), "ROUND_TO_NEAREST_EVEN");
  EXPECT_EQ(vart::to_string(StatusCode::RESOURCE_UNAVAILABLE), "RESOURCE_UNAVAILABLE");
  EXPECT_EQ(vart::to_string(StatusCode::UNSUPPORTED), "UNSUPPORTED");
}

TEST(Names, TypesThatOnlyTheCoreHasAreUnknown) {
  EXPECT_EQ(vart::to_string(static_cast<DataType>(13)), "UNKNOWN");
}

TEST(Names, ValuesOutsideTheListsAreUnknown) {
  for (const int value : {-1, 99, 300}) {
    EXPECT_EQ(vart::to_string(static_cast<DataType>(value)), "UNKNOWN");
    EXPECT_EQ(vart::to_string(static_cast<MemoryLayout>(value)), "UNKNOWN");
    EXPECT_EQ(vart::to_string(static_cast<MemoryType>(value)), "UNKNOWN");
    EXPECT_EQ(vart::to_string(static_cast<TensorDirection>(value)), "UNKNOWN");
    EXPECT_EQ(vart::to_string(static_cast<TensorType>(value)), "UNKNOWN");
    EXPECT_EQ(vart::to_string(static_cast<RoundingMode>(value)), "UNKNOWN");
    EXPECT_EQ(vart::to_string(static_cast<StatusCode>(value)), "UNKNOWN");
  }
}

}  // namespace
}  // namespace vart
