// How the samples write types, shapes and names as text: the file names of three programs depend on
// it.
#include "common/text.hpp"

#include <gmock/gmock.h>

namespace millrace::test {
namespace {

using samples::FloatNames;
using testing::ElementsAre;
using vart::DataType;

std::vector<std::string> names_of(const std::vector<DataType>& types, FloatNames float_names) {
  std::vector<std::string> names;
  for (const DataType type : types) names.push_back(samples::dtype_name(type, float_names));
  return names;
}

TEST(SampleText, FloatingTypesHaveNamesByProgram) {
  const std::vector<DataType> types = {DataType::BF16, DataType::FP16, DataType::FLOAT32};
  EXPECT_THAT(names_of(types, FloatNames::kShort), ElementsAre("bf16", "fp16", "fp32"));
  EXPECT_THAT(names_of(types, FloatNames::kMixed), ElementsAre("bf16", "fp16", "float32"));
  EXPECT_THAT(names_of(types, FloatNames::kLong), ElementsAre("bfloat16", "float16", "float32"));
}

TEST(SampleText, OtherTypesHaveOneName) {
  const std::vector<DataType> types = {DataType::BOOLEAN, DataType::INT8,   DataType::UINT8,
                                       DataType::INT16,   DataType::UINT16, DataType::INT32,
                                       DataType::UINT32,  DataType::INT64,  DataType::UINT64};
  for (const FloatNames names : {FloatNames::kShort, FloatNames::kMixed, FloatNames::kLong})
    EXPECT_THAT(names_of(types, names), ElementsAre("bool", "int8", "uint8", "int16", "uint16",
                                                    "int32", "uint32", "int64", "uint64"));
  EXPECT_EQ(samples::dtype_name(DataType::UNKNOWN, FloatNames::kLong), "unknown");
}

TEST(SampleText, ShapesAndNamesFitIntoFileNames) {
  EXPECT_EQ(samples::shape_text({1, 3, 224, 224}), "1x3x224x224");
  EXPECT_EQ(samples::shape_text({}), "");
  EXPECT_EQ(samples::file_name_part("/head/probs"), "head-probs");
  EXPECT_EQ(samples::file_name_part("probs"), "probs");
}

}  // namespace
}  // namespace millrace::test
