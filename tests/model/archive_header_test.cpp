#include "model/archive_header.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "model/archive.h"
#include "tests/model/small_archive.h"
#include "tests/support/archive_mutation.h"

namespace millrace::model {
namespace {

using namespace std::string_literals;
using test::SmallArchive;
using ::testing::HasSubstr;

Status status_of(const std::vector<std::byte>& bytes) {
  return Archive::from_memory(bytes, nullptr).status();
}

Status status_of_text(const std::string& text) {
  const auto bytes = std::as_bytes(std::span(text));
  return status_of({bytes.begin(), bytes.end()});
}

template <class T>
Status status_with_field(size_t offset, T value) {
  std::vector<std::byte> bytes = SmallArchive().bytes();
  test::store_at<T>(bytes, offset, value);
  test::store_at<uint64_t>(bytes, test::kHeaderChecksumAt,
                           XXH3_64bits(bytes.data(), test::kHeaderChecksumAt));
  return status_of(bytes);
}

constexpr size_t kVersionAt = 8, kHeaderSizeAt = 12;

TEST(ArchiveHeader, ANewerVersionIsUnsupported) {
  const Status status = status_with_field<uint32_t>(kVersionAt, kFormatVersion + 1);
  EXPECT_EQ(status.code(), StatusCode::kUnsupported);
  EXPECT_THAT(status.message(),
              HasSubstr("format version is " + std::to_string(kFormatVersion + 1)));
}

TEST(ArchiveHeader, ANewerVersionWithALongerHeaderIsUnsupported) {
  std::vector<std::byte> bytes = SmallArchive().bytes();
  test::store_at<uint32_t>(bytes, kVersionAt, 7);
  test::store_at<uint32_t>(bytes, kHeaderSizeAt, 128);
  EXPECT_EQ(status_of(bytes).code(), StatusCode::kUnsupported);
}

TEST(ArchiveHeader, EveryFlippedBitIsCorruptData) {
  const std::vector<std::byte> intact = SmallArchive().bytes();
  for (size_t bit = 0; bit < test::kHeaderBytes * 8; ++bit) {
    std::vector<std::byte> bytes = intact;
    bytes[bit / 8] ^= std::byte{1} << bit % 8;
    EXPECT_EQ(status_of(bytes).code(), StatusCode::kCorruptData) << "bit " << bit;
  }
}

TEST(ArchiveHeader, EveryWrongFieldIsRefusedWithItsReason) {
  const std::vector<std::byte> intact = SmallArchive().bytes();
  const auto structure_length = test::load_at<uint32_t>(intact, test::kStructureLengthAt);
  const auto segments_offset = test::load_at<uint64_t>(intact, test::kSegmentsOffsetAt);
  const uint64_t file_length = intact.size();
  constexpr uint64_t kAll = ~uint64_t{0};
  struct Case {
    Status status;
    std::string reason;
  };
  const Case cases[] = {
      {status_with_field<uint32_t>(kVersionAt, 0), "format version 0"},
      {status_with_field<uint32_t>(kHeaderSizeAt, 0), "a header of 0 bytes"},
      {status_with_field<uint32_t>(kHeaderSizeAt, 128), "a header of 128 bytes"},
      {status_with_field<uint32_t>(test::kStructureOffsetAt, 63), "the structure starts at 63"},
      {status_with_field<uint32_t>(test::kStructureOffsetAt, 128), "the structure starts at 128"},
      {status_with_field<uint32_t>(test::kStructureLengthAt, 0x7fffffff),
       "the limit is 2147483646"},
      {status_with_field<uint32_t>(test::kStructureLengthAt, 0x7ffffffe), "beyond the file"},
      {status_with_field<uint32_t>(test::kStructureLengthAt, 0), "checksum"},
      {status_with_field<uint32_t>(test::kStructureLengthAt, structure_length + 128),
       "inside the structure"},
      {status_with_field<uint32_t>(test::kStructureLengthAt, structure_length - 1), "checksum"},
      {status_with_field<uint64_t>(test::kStructureChecksumAt, 1), "checksum"},
      {status_with_field<uint64_t>(test::kSegmentsOffsetAt, 0), "follow the structure"},
      {status_with_field<uint64_t>(test::kSegmentsOffsetAt, 64), "inside the structure"},
      {status_with_field<uint64_t>(test::kSegmentsOffsetAt, segments_offset + 1),
       "not a multiple of 64"},
      {status_with_field<uint64_t>(test::kSegmentsOffsetAt, segments_offset + 64), "do not end"},
      {status_with_field<uint64_t>(test::kSegmentsOffsetAt, kAll - 63), "do not end"},
      {status_with_field<uint64_t>(test::kSegmentsLengthAt, 0), "do not end"},
      {status_with_field<uint64_t>(test::kSegmentsLengthAt, kAll), "do not end"},
      {status_with_field<uint64_t>(test::kFileLengthAt, file_length + 1), "truncated"},
      {status_with_field<uint64_t>(test::kFileLengthAt, kAll), "truncated"},
      {status_with_field<uint64_t>(test::kFileLengthAt, file_length - 1), "follow the end"},
      {status_with_field<uint64_t>(test::kFileLengthAt, 0), "follow the end"},
  };
  for (const Case& wrong : cases) {
    EXPECT_EQ(wrong.status.code(), StatusCode::kCorruptData) << wrong.reason;
    EXPECT_THAT(wrong.status.message(), HasSubstr(wrong.reason));
  }
}

TEST(ArchiveHeader, AWrongHeaderChecksumIsRefused) {
  std::vector<std::byte> bytes = SmallArchive().bytes();
  bytes[test::kHeaderChecksumAt] ^= std::byte{1};
  EXPECT_THAT(status_of(bytes).message(), HasSubstr("header is damaged"));
}

TEST(ArchiveHeader, AShortFileSaysHowShort) {
  EXPECT_THAT(status_of({}).message(), HasSubstr("empty"));
  std::vector<std::byte> bytes = SmallArchive().bytes();
  bytes.resize(10);
  EXPECT_THAT(status_of(bytes).message(), HasSubstr("10 bytes, not even a header"));
}

TEST(ArchiveHeader, SaysWhatAForeignFileSeemsToBe) {
  // The start of a model as PyTorch exports it: IR version 6, producer "pytorch".
  EXPECT_THAT(status_of_text("\x08\x06\x12\x07pytorch\x1a\x03"s).message(), HasSubstr("ONNX"));
  EXPECT_THAT(status_of_text("\x08\x03"s
                             "\x3a\xff\xff\x01"s)
                  .message(),
              HasSubstr("ONNX"));
  EXPECT_THAT(status_of_text("\x1c\0\0\0TFL3\x14\0\x20\0"s).message(), HasSubstr("TensorFlow"));
  EXPECT_THAT(status_of_text("PK\x03\x04"s).message(), HasSubstr("ZIP"));
  EXPECT_THAT(status_of_text("version https://git-lfs.github.com/spec/v1"s).message(),
              HasSubstr("git lfs pull"));
  EXPECT_THAT(status_of_text("\x89RAI\n\x1a\n\n"s).message(), HasSubstr("text mode"));
  EXPECT_THAT(status_of_text("\x89PNG\r\n\x1a\n"s).message(), HasSubstr("a PNG picture"));
  EXPECT_THAT(status_of_text("anything else\nand more"s).message(),
              HasSubstr("it begins with text, \"anything else\""));
  EXPECT_THAT(status_of_text("\n\r\n  \t<!DOCTYPE html>\n"s).message(),
              HasSubstr("an HTML or XML page"));
  EXPECT_THAT(status_of_text("\n\n  { }"s).message(), HasSubstr("a JSON file"));
  EXPECT_THAT(status_of_text("\n\nsecond thoughts\n"s).message(),
              HasSubstr("it begins with text, \"second thoughts\""));
  EXPECT_THAT(status_of_text("\n \n"s).message(), HasSubstr("it begins with nothing but blanks"));
  std::string bytes(102, '\0');
  bytes.replace(0, 2, "\x01\xfe");
  EXPECT_THAT(status_of_text(bytes).message(),
              HasSubstr("it begins with the bytes 01 fe 00 00 00 00 00 00"));
}

TEST(ArchiveHeader, ANeffIsValidButOfAnotherDevice) {
  std::string neff(2048, '\0');
  neff[9] = 4;   // a header of 1,024 bytes
  neff[16] = 1;  // one byte of data
  neff[24] = 2;  // the version
  neff.replace(220, 6, "resnet");
  const Status status = status_of_text(neff);
  EXPECT_EQ(status.code(), StatusCode::kUnsupported);
  EXPECT_THAT(status.message(), HasSubstr("a NEFF (package version 0, NEFF version 2.0, "
                                          "name \"resnet\")"));
  EXPECT_NE(status_of_text(neff.substr(0, 1000)).code(), StatusCode::kUnsupported);
}

TEST(ArchiveHeader, ABareStructureIsRecognised) {
  const std::vector<uint8_t> structure = test::small_structure({});
  EXPECT_THAT(status_of_text(std::string(structure.begin(), structure.end())).message(),
              HasSubstr("bare structure"));
}

// docs/rai-format.md shows these bytes.
TEST(ArchiveHeader, IsWrittenAsDocumented) {
  const Header header{.structure_offset = 64,
                      .structure_length = 0x1d8,
                      .structure_checksum = 0x1122334455667788,
                      .segments_offset = 0x240,
                      .segments_length = 0xc0,
                      .file_length = 0x300};
  const auto bytes = write_header(header);
  const std::string expected =
      "\x89RAI\r\n\x1a\n"
      "\x01\0\0\0\x40\0\0\0"
      "\x40\0\0\0\xd8\x01\0\0"
      "\x88\x77\x66\x55\x44\x33\x22\x11"
      "\x40\x02\0\0\0\0\0\0"
      "\xc0\0\0\0\0\0\0\0"
      "\0\x03\0\0\0\0\0\0"s;
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(bytes.data()), expected.size()), expected);
  EXPECT_EQ(test::load_at<uint64_t>(bytes, test::kHeaderChecksumAt),
            XXH3_64bits(expected.data(), expected.size()));
}

}  // namespace
}  // namespace millrace::model
