// Tests what files are recognised as by their first bytes.
#include "io/content.h"

#include <gtest/gtest.h>

#include <fstream>

#include "tests/support/temporary_directory.h"

namespace millrace::io {
namespace {

using namespace std::string_view_literals;

Recognised recognised(std::string_view bytes) {
  return recognise(std::as_bytes(std::span(bytes)), bytes.size());
}

TEST(Content, PicturesAndArraysAreRecognised) {
  EXPECT_EQ(recognised("\xFF\xD8\xFF\xE0"sv).content, Content::kPicture);
  EXPECT_EQ(recognised("\x89PNG\r\n\x1A\n"sv).content, Content::kPicture);
  EXPECT_EQ(recognised("RIFF\0\0\0\0WEBPVP8 "sv).content, Content::kPicture);
  EXPECT_EQ(recognised("P5\n2 2\n255\nabcd"sv).content, Content::kPicture);
  EXPECT_EQ(recognised("P6 # by a camera\n2 2"sv).content, Content::kPicture);
  EXPECT_EQ(recognised("\x93NUMPY\x01\0"sv).content, Content::kArray);
}

TEST(Content, KnownFormatsThatAreNotReadHaveAName) {
  EXPECT_EQ(recognised("GIF89a"sv).name, "a GIF picture");
  EXPECT_EQ(recognised("II*\0\x08\0\0\0"sv).name, "a TIFF picture");
  EXPECT_EQ(recognised("\0\0\0\x18"
                       "ftypheic"sv)
                .name,
            "a HEIF picture");
  EXPECT_EQ(recognised("PK\x03\x04"sv).content, Content::kUnsupported);
}

TEST(Content, NumbersThatBeginWithTwoSuchLettersAreNoPictures) {
  EXPECT_EQ(recognised("BM and something else altogether"sv).content, Content::kOther);
  EXPECT_EQ(recognised("P5abcdef"sv).content, Content::kOther);
  EXPECT_EQ(recognised("P"sv).content, Content::kOther);
  EXPECT_EQ(recognised(""sv).content, Content::kOther);
}

TEST(Content, FilesAreRecognisedWhateverTheirNames) {
  const test::TemporaryDirectory directory;
  std::ofstream(directory.file("photo")) << "GIF87a...";
  EXPECT_EQ(recognise_file(directory.file("photo")).content, Content::kUnsupported);
  EXPECT_EQ(recognise_file(directory.file("none")).content, Content::kOther);
  EXPECT_EQ(recognise_file(directory.path().string()).content, Content::kOther);
}

}  // namespace
}  // namespace millrace::io
