#include "io/file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string_view>

#include "tests/support/temporary_directory.h"

namespace millrace::io {
namespace {

using ::testing::ElementsAre;

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

TEST(File, WrittenBytesAreReadBack) {
  const test::TemporaryDirectory directory;
  ASSERT_TRUE(write_file(directory.file("a.bin"), bytes_of("mill")).ok());
  const auto read = read_file(directory.file("a.bin"));
  ASSERT_TRUE(read.ok()) << read.status().to_string();
  EXPECT_TRUE(std::ranges::equal(*read, bytes_of("mill")));
}

TEST(File, FailedWriteLeavesNothing) {
  const test::TemporaryDirectory directory;
  std::filesystem::create_directory(directory.path() / "a.bin");
  EXPECT_FALSE(write_file(directory.file("a.bin"), bytes_of("mill")).ok());
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(directory.path()), {}), 1);
}

TEST(File, MissingFileAndDirectoryAreToldApart) {
  const test::TemporaryDirectory directory;
  EXPECT_EQ(read_file(directory.file("none")).status().code(), StatusCode::kNotFound);
  EXPECT_EQ(read_file(directory.path().string()).status().code(), StatusCode::kInvalidArgument);
}

TEST(File, WhatMayHaveNoEndIsRefused) {
  const Status status = read_file("/dev/zero").status();
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_TRUE(status.message().starts_with("/dev/zero is not a regular file"));
}

TEST(File, LinesLoseBothKindsOfLineEnd) {
  const test::TemporaryDirectory directory;
  ASSERT_TRUE(write_file(directory.file("labels"), bytes_of("cat\r\ndog\n\nlast")).ok());
  const auto lines = read_lines(directory.file("labels"));
  ASSERT_TRUE(lines.ok());
  EXPECT_THAT(*lines, ElementsAre("cat", "dog", "", "last"));
}

}  // namespace
}  // namespace millrace::io
