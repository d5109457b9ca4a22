#include "cli/data/data_set.h"

#include <gmock/gmock.h>

#include <cstring>

#include "tests/cli/data/files.h"

namespace millrace::test {
namespace {

using cli::DataSet;
using cli::Sample;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<float> floats(const std::vector<std::byte>& bytes) {
  std::vector<float> values(bytes.size() / sizeof(float));
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

class DataSetTest : public testing::Test {
 protected:
  static Result<DataSet> open(const std::vector<std::string>& sources, float scale = 1) {
    return DataSet::open({float_input("image", {1, 1, 2, 2})}, sources,
                         {.scale = {scale, scale, scale}});
  }

  static std::string failure(const std::vector<std::string>& sources) {
    const Result<DataSet> data = open(sources);
    return data.ok() ? "no failure" : data.status().message();
  }

  TemporaryDirectory directory_;
};

TEST_F(DataSetTest, PicturesOfAFolderComeInTheOrderOfTheirPaths) {
  write_grey(directory_, "b/late.ppm", 3);
  write_grey(directory_, "b/Early.PPM", 2);
  write_grey(directory_, "a.ppm", 1);
  write_grey(directory_, ".hidden.ppm", 9);
  write_grey(directory_, ".cache/copy.ppm", 9);
  write_text(directory_, "labels.txt", "a.ppm 1\n");
  auto data = open({directory_.path().string()}, 2);
  ASSERT_TRUE(data.ok()) << data.status().to_string();
  ASSERT_EQ(data->size(), 3u);
  const char* const names[] = {"a.ppm", "b/Early.PPM", "b/late.ppm"};
  for (size_t i = 0; i < 3; ++i) {
    const auto sample = data->load(i);
    ASSERT_TRUE(sample.ok()) << sample.status().to_string();
    EXPECT_EQ(sample->name, directory_.file(names[i]));
    EXPECT_EQ(data->folder(i), directory_.path().string());
    ASSERT_EQ(sample->inputs.size(), 1u);
    EXPECT_THAT(floats(sample->inputs[0]), testing::Each(2.0F * static_cast<float>(i + 1)));
  }
}

TEST_F(DataSetTest, FilesHoldAnyNumberOfFrames) {
  const std::vector<float> two = {1, 2, 3, 4, 5, 6, 7, 8};
  const std::string raw(reinterpret_cast<const char*>(two.data()), two.size() * sizeof(float));
  auto data = open({write_text(directory_, "two.bin", raw), write_grey(directory_, "one.ppm", 9),
                    write_npy(directory_, "stack.npy", "<f4", "2, 1, 2, 2", raw)});
  ASSERT_TRUE(data.ok()) << data.status().to_string();
  ASSERT_EQ(data->size(), 5u);
  EXPECT_EQ(data->name(1), directory_.file("two.bin[1]"));
  EXPECT_EQ(data->name(2), directory_.file("one.ppm"));
  EXPECT_EQ(data->path(4), directory_.file("stack.npy"));
  EXPECT_THAT(floats(data->load(1)->inputs[0]), ElementsAre(5, 6, 7, 8));
  EXPECT_THAT(floats(data->load(4)->inputs[0]), ElementsAre(5, 6, 7, 8));
  EXPECT_THAT(floats(data->load(3)->inputs[0]), ElementsAre(1, 2, 3, 4)) << "in any order";
}

TEST_F(DataSetTest, ArraysOfBytesWithTheShapeOfPicturesArePreprocessed) {
  const std::string pixels = {1, 2, 3, 4, 5, 6, 7, 8};
  auto data = open({write_npy(directory_, "grey.npy", "|u1", "2, 2, 2", pixels)}, 0.5);
  ASSERT_TRUE(data.ok()) << data.status().to_string();
  ASSERT_EQ(data->size(), 2u);
  EXPECT_THAT(floats(data->load(1)->inputs[0]), ElementsAre(2.5, 3, 3.5, 4));

  auto colours =
      DataSet::open({float_input("image", {1, 3, 1, 2})},
                    {write_npy(directory_, "rgb.npy", "|u1", "1, 1, 2, 3", {1, 2, 3, 4, 5, 6})},
                    {.order = vision::ChannelOrder::kBgr});
  ASSERT_TRUE(colours.ok()) << colours.status().to_string();
  EXPECT_THAT(floats(colours->load(0)->inputs[0]), ElementsAre(3, 6, 2, 5, 1, 4));
}

TEST_F(DataSetTest, ArraysWithTheShapeOfTheInputAreTakenAsTheyAre) {
  auto data = open({write_npy(directory_, "a.npy", "|u1", "1, 1, 2, 2", {1, 2, 3, 4})}, 0.5);
  ASSERT_TRUE(data.ok()) << data.status().to_string();
  EXPECT_THAT(floats(data->load(0)->inputs[0]), ElementsAre(1, 2, 3, 4));
}

TEST_F(DataSetTest, AFewSamplesAreSpreadOverAll) {
  auto data = open({write_npy(directory_, "grey.npy", "|u1", "6, 2, 2", std::string(24, 1))});
  ASSERT_TRUE(data.ok()) << data.status().to_string();
  EXPECT_THAT(data->spread(3), ElementsAre(0, 2, 4));
  EXPECT_THAT(data->spread(100), ElementsAre(0, 1, 2, 3, 4, 5));
}

TEST_F(DataSetTest, PicturesHaveThumbnails) {
  const std::string raw(4 * sizeof(float), 0);
  auto data = open({write_grey(directory_, "a.ppm", 1),
                    write_npy(directory_, "grey.npy", "|u1", "1, 2, 2", {1, 2, 3, 4}),
                    write_text(directory_, "raw.bin", raw)});
  ASSERT_TRUE(data.ok()) << data.status().to_string();
  for (const size_t picture : {0, 1}) {
    const auto png = data->thumbnail(picture, 16);
    ASSERT_TRUE(png.ok() && png->has_value()) << png.status().to_string();
    EXPECT_EQ(std::memcmp((*png)->data(), "\x89PNG", 4), 0);
  }
  const auto none = data->thumbnail(2, 16);
  ASSERT_TRUE(none.ok()) << none.status().to_string();
  EXPECT_FALSE(none->has_value());
}

TEST_F(DataSetTest, SeveralInputsAreNamedOrFoundInAFolder) {
  const std::vector<graph::Boundary> inputs = {float_input("/in/ids", {2}),
                                               float_input("mask", {1})};
  const std::vector<float> ids = {1, 2, 3, 4};
  const std::string raw(reinterpret_cast<const char*>(ids.data()), ids.size() * sizeof(float));
  const std::string ids_file = write_text(directory_, "in-ids.bin", raw);
  const std::string mask = write_text(directory_, "mask/all.bin", raw.substr(8));
  for (const std::vector<std::string>& sources :
       {std::vector<std::string>{directory_.path().string()},
        std::vector<std::string>{"mask=" + mask, "/in/ids=" + ids_file}}) {
    auto data = DataSet::open(inputs, sources, {});
    ASSERT_TRUE(data.ok()) << data.status().to_string();
    ASSERT_EQ(data->size(), 2u);
    const auto sample = data->load(1);
    ASSERT_TRUE(sample.ok()) << sample.status().to_string();
    EXPECT_THAT(floats(sample->inputs[0]), ElementsAre(3, 4));
    EXPECT_THAT(floats(sample->inputs[1]), ElementsAre(4));
  }
  const auto message = [&](const std::vector<std::string>& sources) {
    const auto data = DataSet::open(inputs, sources, {});
    return data.ok() ? "no failure" : data.status().message();
  };
  EXPECT_THAT(message({"mask=" + mask}), HasSubstr("no data for input '/in/ids'"));
  EXPECT_THAT(message({ids_file, mask}), HasSubstr("NAME=FILE"));
  EXPECT_THAT(message({"mask=" + ids_file, "/in/ids=" + ids_file}),
              HasSubstr("4 frames for input 'mask', 2 for input '/in/ids'"));
  EXPECT_THAT(message({directory_.file("mask")}), HasSubstr("in-ids.npy"));
}

TEST_F(DataSetTest, WhatCannotBeReadIsNamed) {
  std::filesystem::create_directory(directory_.file("empty"));
  EXPECT_THAT(failure({directory_.file("empty")}), HasSubstr("holds no pictures"));
  EXPECT_THAT(failure({directory_.file("none")}), HasSubstr("none: no such file"));
  EXPECT_THAT(failure({write_text(directory_, "a.bin", "abc")}), HasSubstr("a.bin"));
  EXPECT_THAT(failure({write_npy(directory_, "a.npy", "|u1", "5", "abcde")}), HasSubstr("a.npy"));
  EXPECT_THAT(failure({}), HasSubstr("no files"));
  auto broken = open({write_text(directory_, "broken.ppm", "P5\n2 2\n")});
  ASSERT_TRUE(broken.ok()) << "pictures are decoded when they are needed";
  const auto sample = broken->load(0);
  ASSERT_FALSE(sample.ok());
  EXPECT_THAT(sample.status().message(), HasSubstr("broken.ppm"));
}

TEST_F(DataSetTest, InputsThatAreNoPicturesRefuseThem) {
  const std::string picture = write_grey(directory_, "a.ppm", 1);
  const auto data = DataSet::open({float_input("tokens", {4})}, {picture}, {});
  ASSERT_FALSE(data.ok());
  EXPECT_THAT(data.status().message(), HasSubstr("input 'tokens' [4] takes no picture"));
}

}  // namespace
}  // namespace millrace::test
