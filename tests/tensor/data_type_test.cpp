#include "tensor/data_type.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace millrace::tensor {
namespace {

TEST(DataType, NumbersSizesAndTextsAreThoseOfTheApi) {
  EXPECT_EQ(static_cast<int>(DataType::kBf16), 6);
  EXPECT_EQ(static_cast<int>(DataType::kFp16), 7);
  EXPECT_EQ(static_cast<int>(DataType::kUint64), 12);
  EXPECT_EQ(static_cast<int>(DataType::kFloat64), 13);
  EXPECT_EQ(size_of(DataType::kFloat64), 8u);
  EXPECT_EQ(size_of(DataType::kBoolean), 1u);
  EXPECT_EQ(size_of(DataType::kBf16), 2u);
  EXPECT_EQ(size_of(DataType::kFloat32), 4u);
  EXPECT_EQ(size_of(DataType::kInt64), 8u);
  EXPECT_EQ(to_string(DataType::kFloat32), "FLOAT32");
}

TEST(DataType, ValuesOutsideTheListAreUnknown) {
  EXPECT_EQ(to_string(static_cast<DataType>(200)), "UNKNOWN");
  EXPECT_EQ(size_of(static_cast<DataType>(200)), 0u);
  EXPECT_EQ(size_of(DataType::kUnknown), 0u);
  EXPECT_FALSE(is_integer(static_cast<DataType>(200)));
}

TEST(DataType, EachIsFloatingOrIntegerOrBoolean) {
  for (int i = 1; i < kDataTypeCount; ++i) {
    const auto type = static_cast<DataType>(i);
    EXPECT_EQ(is_floating(type) + is_integer(type) + (type == DataType::kBoolean), 1) << i;
  }
  EXPECT_TRUE(is_floating(DataType::kFp16));
  EXPECT_TRUE(is_integer(DataType::kUint64));
}

TEST(DataType, ParsesItsOwnText) {
  for (int i = 1; i < kDataTypeCount; ++i) {
    const auto parsed = parse_data_type(to_string(static_cast<DataType>(i)));
    ASSERT_TRUE(parsed.ok());
    EXPECT_EQ(static_cast<int>(*parsed), i);
  }
  for (const char* text : {"UNKNOWN", "", "float32", "FLOAT128"}) {
    const auto parsed = parse_data_type(text);
    EXPECT_EQ(parsed.status().code(), StatusCode::kInvalidArgument) << text;
    EXPECT_THAT(parsed.status().message(), testing::HasSubstr("BF16, FP16")) << text;
  }
}

}  // namespace
}  // namespace millrace::tensor
