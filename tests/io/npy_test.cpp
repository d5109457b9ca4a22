#include "io/npy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "io/file.h"
#include "tests/support/temporary_directory.h"

namespace millrace::io {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string npy(const std::string& dictionary, const std::string& data) {
  std::string file = "\x93NUMPY";
  file += '\x01';
  file += '\x00';
  file += static_cast<char>(dictionary.size());
  file += '\x00';
  return file + dictionary + data;
}

// A file of format version 2, whose headers may be long.
std::string long_npy(const std::string& dictionary, const std::string& data) {
  const auto length = static_cast<uint32_t>(dictionary.size());
  return std::string("\x93NUMPY\x02\x00", 8) +
         std::string(reinterpret_cast<const char*>(&length), sizeof length) + dictionary + data;
}

Result<Array> parse(const std::string& content) {
  const test::TemporaryDirectory directory;
  const auto bytes = std::as_bytes(std::span(content));
  EXPECT_TRUE(write_file(directory.file("a.npy"), bytes).ok());
  return read_npy(directory.file("a.npy"));
}

constexpr char kBytes[] = "{'descr': '|u1', 'fortran_order': False, 'shape': (2, 3), }\n";

TEST(Npy, TypeShapeAndDataAreRead) {
  const auto array = parse(npy(kBytes, "abcdef"));
  ASSERT_TRUE(array.ok()) << array.status().to_string();
  EXPECT_EQ(array->type, tensor::DataType::kUint8);
  EXPECT_THAT(array->shape, ElementsAre(2, 3));
  EXPECT_EQ(array->bytes.size(), 6u);
  EXPECT_EQ(static_cast<char>(array->bytes[5]), 'f');
}

TEST(Npy, WhatIsWrittenIsReadAgain) {
  for (const std::vector<uint32_t>& shape : {std::vector<uint32_t>{}, {6}, {2, 3}}) {
    Array array{tensor::DataType::kInt8, shape, {}};
    array.bytes.resize(shape.empty() ? 1 : 6, std::byte{7});
    const auto file = npy_bytes(array);
    ASSERT_TRUE(file.ok()) << file.status().to_string();
    const auto read = parse({reinterpret_cast<const char*>(file->data()), file->size()});
    ASSERT_TRUE(read.ok()) << read.status().to_string();
    EXPECT_EQ(read->type, array.type);
    EXPECT_EQ(read->shape, shape);
    EXPECT_EQ(read->bytes, array.bytes);
    EXPECT_EQ((file->size() - array.bytes.size()) % 64, 0u) << "as NumPy aligns the data";
  }
  EXPECT_EQ(npy_bytes({tensor::DataType::kBf16, {}, {}}).status().code(), StatusCode::kUnsupported);
}

TEST(Npy, ScalarHasNoDimensions) {
  const auto array =
      parse(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (), }", std::string(4, '\0')));
  ASSERT_TRUE(array.ok()) << array.status().to_string();
  EXPECT_TRUE(array->shape.empty());
}

TEST(Npy, EveryTruncationIsRefused) {
  const std::string whole = npy(kBytes, "abcdef");
  for (size_t length = 0; length < whole.size(); ++length)
    EXPECT_FALSE(parse(whole.substr(0, length)).ok()) << length;
}

TEST(Npy, ImplausibleHeadersAreRefused) {
  std::string large = "\x93NUMPY";
  large += std::string("\x01\x00\xff\xff", 4);  // a header of 65,535 bytes
  large += "{'descr': '" + std::string(65'000, 'x');
  large.resize(10 + 65'535, ' ');
  EXPECT_THAT(parse(large).status().message(), HasSubstr("implausibly long"));
  for (const char* shape : {"(4294967296,)", "(99999999999,)", "(4294967295, 4294967295, 16)"})
    EXPECT_THAT(
        parse(npy("{'descr': '|u1', 'fortran_order': False, 'shape': " + std::string(shape) + ", }",
                  ""))
            .status()
            .message(),
        HasSubstr("implausibly large"))
        << shape;
}

// A header as long as NumPy takes it; its length must not become the depth of a recursion.
TEST(Npy, LongHeadersAreRead) {
  std::string many = "{'descr': '|u1', 'fortran_order': False, 'shape': (";
  for (int i = 0; i < 3'000; ++i) many += "1, ";
  const auto array = parse(long_npy(many + "), }\n", "a"));
  ASSERT_TRUE(array.ok()) << array.status().to_string();
  EXPECT_EQ(array->shape.size(), 3'000u);
  const std::string type(9'900, 'x');
  EXPECT_EQ(parse(long_npy("{'descr': '" + type + "', 'shape': (1,)}", "a")).status().code(),
            StatusCode::kUnsupported);
}

TEST(Npy, KeysStandInAnyOrderAndForm) {
  const auto array =
      parse(npy("{ 'shape'\n:\t( 2 ,), 'fortran_order':False, 'descr':'<i2'}", "abcd"));
  ASSERT_TRUE(array.ok()) << array.status().to_string();
  EXPECT_EQ(array->type, tensor::DataType::kInt16);
  EXPECT_THAT(array->shape, ElementsAre(2));
}

TEST(Npy, RefusalsSayWhy) {
  EXPECT_THAT(parse("PNG").status().message(), HasSubstr("not a .npy file"));
  EXPECT_THAT(parse(npy("{'descr': '>f4', 'fortran_order': False, 'shape': (0,), }", ""))
                  .status()
                  .message(),
              HasSubstr("'>f4'"));
  EXPECT_THAT(parse(npy("{'descr': [('a', '<f4')], 'shape': (1,)}", "abcd")).status().message(),
              HasSubstr("structured"));
  EXPECT_THAT(
      parse(npy("{'descr': '|u1', 'fortran_order': 0, 'shape': (1,)}", "a")).status().message(),
      HasSubstr("no 'fortran_order'"));
  for (const char* shape : {"1", "(1", "(-1,)", "(x,)"})
    EXPECT_THAT(
        parse(npy("{'descr': '|u1', 'fortran_order': False, 'shape': " + std::string(shape), "a"))
            .status()
            .message(),
        HasSubstr("no 'shape'"))
        << shape;
  EXPECT_THAT(parse(npy("{'descr': '|u1', 'fortran_order': True, 'shape': (1,), }", "a"))
                  .status()
                  .message(),
              HasSubstr("Fortran"));
  EXPECT_THAT(parse(npy(kBytes, "abcdefg")).status().message(), HasSubstr("7 bytes"));
}

}  // namespace
}  // namespace millrace::io
