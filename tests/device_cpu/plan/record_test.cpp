// The text of a record, also damaged.
#include "device/cpu/plan/record.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace millrace::device::cpu::plan {
namespace {

using ::testing::HasSubstr;

LaneTimes example_times(uint64_t scale) {
  return {{{"f32 1x3x8x8", {{Form::kBlocked, "abcd", "aBcd16b", "jit:avx512_core", 1200 * scale}}},
           {"f32 1x16x8x8",
            {{Form::kBlocked, "aBcd16b", "aBcd16b", "jit:avx512_core", 2200 * scale},
             {Form::kChannelsLast, "acdb", "acdb", "brgconv:avx512_core", 2100 * scale}}},
           {"f32 1x16x8x8 then f32 1x64x8x8",
            {{Form::kSeparable, "aBcd16b", "aBcd16b", "millrace:separable", 700 * scale}}},
           {"f32 1x7x8x8", {}}},
          {{"f32 1x16x8x8 acdb aBcd16b", 90 * scale}}};
}

Record example() {
  return {"a processor, a library", {{1, example_times(2)}, {4, example_times(1)}}};
}

TEST(Record, ItsTextReadsAsTheSame) {
  const Result<Record> record = parse_record(to_text(example()));
  ASSERT_TRUE(record.ok()) << record.status().message();
  EXPECT_EQ(*record, example());
  EXPECT_EQ(to_text(*record), to_text(example()));
}

TEST(Record, LinesThatMakeNoSenseAreNamed) {
  for (const std::string line :
       {"conv\tx\tblocked\tabcd\tabcd\tjit", "conv\tx\tspiral\tabcd\tabcd\tjit\t5",
        "conv\tx\tblocked\tabcd\tabcd\tjit\t-5", "move\tx\t99999999999999999999", "move\tx",
        "move\tx\t9223372036854775807", "hello", "\t", "move\tx\t1\nmove\tx\t2",
        "conv\tx\tblocked\ta\ta\tk\t1\nconv\tx\tblocked\ta\ta\tk\t2",
        "conv\tx\tblocked\ta\ta\tk\t1\nconv\tx", "conv\tx\nconv\tx\tblocked\ta\ta\tk\t1",
        "conv\tx\nconv\tx", "lanes\t1", "lanes\t0", "lanes\t65536", "lanes\t-2", "lanes"}) {
    const Result<Record> record =
        parse_record("millrace-tuning 2\nfingerprint\tf\nlanes\t1\n" + line + "\n");
    EXPECT_EQ(record.status().code(), StatusCode::kCorruptData) << line;
    EXPECT_THAT(record.status().message(), HasSubstr("line ")) << line;
  }
}

TEST(Record, OneStepForTwoConvolutionsIsThatOfPairsOnly) {
  for (const char* line : {"conv\tx\tseparable\ta\ta\tk\t1", "conv\tx then y\tblocked\ta\ta\tk\t1"})
    EXPECT_THAT(
        parse_record(std::string("millrace-tuning 2\nlanes\t1\n") + line).status().message(),
        HasSubstr("line 3 makes no sense"))
        << line;
}

TEST(Record, OtherTextIsNoRecord) {
  for (const char* text : {"", "\n", "millrace-tuning 3\n", "{}"})
    EXPECT_EQ(parse_record(text).status().code(), StatusCode::kCorruptData) << text;
}

TEST(Record, TimesOfAnUnknownNumberOfLanesMakeNoSense) {
  const Result<Record> record = parse_record("millrace-tuning 2\nmove\tx\t1\n");
  EXPECT_THAT(record.status().message(), HasSubstr("line 2 makes no sense"));
}

TEST(Record, OneOfTheFirstVersionIsOfOneLane) {
  const Result<Record> record = parse_record(
      "millrace-tuning 1\nfingerprint\ta processor, a library, 1 thread\nconv\tx\nmove\ty\t7\n");
  ASSERT_TRUE(record.ok()) << record.status().message();
  const Record expected{"a processor, a library", {{1, {{{"x", {}}}, {{"y", 7}}}}}};
  EXPECT_EQ(*record, expected);
  EXPECT_EQ(*parse_record(to_text(*record)), expected);
}

}  // namespace
}  // namespace millrace::device::cpu::plan
