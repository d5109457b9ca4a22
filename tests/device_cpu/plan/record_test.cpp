// The text of a record, also damaged.
#include "device/cpu/plan/record.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace millrace::device::cpu::plan {
namespace {

using ::testing::HasSubstr;

Record example() {
  return {"a processor, a library",
          {{"f32 1x3x8x8", {{Form::kBlocked, "abcd", "aBcd16b", "jit:avx512_core", 1200}}},
           {"f32 1x16x8x8",
            {{Form::kBlocked, "aBcd16b", "aBcd16b", "jit:avx512_core", 2200},
             {Form::kChannelsLast, "acdb", "acdb", "brgconv:avx512_core", 2100}}},
           {"f32 1x7x8x8", {}}},
          {{"f32 1x16x8x8 acdb aBcd16b", 90}}};
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
        "conv\tx\nconv\tx"}) {
    const Result<Record> record = parse_record("millrace-tuning 1\nfingerprint\tf\n" + line + "\n");
    EXPECT_EQ(record.status().code(), StatusCode::kCorruptData) << line;
    EXPECT_THAT(record.status().message(), HasSubstr("line ")) << line;
  }
}

TEST(Record, OtherTextIsNoRecord) {
  for (const char* text : {"", "\n", "millrace-tuning 2\n", "{}"})
    EXPECT_EQ(parse_record(text).status().code(), StatusCode::kCorruptData) << text;
}

}  // namespace
}  // namespace millrace::device::cpu::plan
