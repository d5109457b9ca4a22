// The option cache_path: where an archive is extracted.
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <stdexcept>
#include <thread>

#include "tests/support/log_capture.h"
#include "tests/vart/runner_fixture.h"

namespace millrace::vartml {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class CacheTest : public RunnerTest {
 protected:
  static std::vector<std::string> names_in(const fs::path& directory) {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(directory))
      names.push_back(entry.path().filename());
    return names;
  }
  // Everything below, by its path.
  static std::map<std::string, std::string> files_below(const fs::path& directory) {
    std::map<std::string, std::string> files;
    for (const auto& entry : fs::recursive_directory_iterator(directory)) {
      std::ifstream file(entry.path(), std::ios::binary);
      if (entry.is_regular_file())
        files[entry.path().lexically_relative(directory)] = {std::istreambuf_iterator<char>(file),
                                                             {}};
    }
    return files;
  }
  static size_t batch_of(const std::string& model_path) {
    return RunnerFactory::create_runner(RunnerType::VAIML, model_path)->get_batch_size();
  }

  const std::string cache_ = directory_.file("deep/cache");
  const Options options_ = {{"cache_path", cache_}};
};

TEST_F(CacheTest, WhatIsExtractedThereIsAModel) {
  make_runner(options_, {.batch_size = 3});
  EXPECT_THAT(names_in(cache_), ElementsAre("vaiml_par_0"));
  EXPECT_EQ(batch_of(cache_), 3u);
}

TEST_F(CacheTest, ASecondRunnerUsesWhatIsThere) {
  make_runner(options_);
  const auto written = fs::last_write_time(cache_ + "/vaiml_par_0");
  const test::LogCapture log;
  make_runner({{"cache_path", cache_}, {"debug", true}});
  EXPECT_EQ(fs::last_write_time(cache_ + "/vaiml_par_0"), written);
  EXPECT_THAT(log.lines(), Contains(AllOf(HasSubstr("already in"), HasSubstr(cache_))));
}

TEST_F(CacheTest, AnotherModelReplacesIt) {
  make_runner(options_, {.batch_size = 3});
  make_runner(options_, {.batch_size = 4});
  EXPECT_THAT(names_in(cache_), ElementsAre("vaiml_par_0"));
  EXPECT_EQ(batch_of(cache_), 4u);
}

TEST_F(CacheTest, CpuPartitionsAreShownAsInTheDirectoryForm) {
  const std::string form = directory_.file("form");
  ASSERT_TRUE(
      test::write_tiny_model(form, {.cpu_partition = true}, model::ArchiveForm::kDirectory).ok());
  make_runner(options_, {.cpu_partition = true});
  const auto extracted = files_below(cache_);
  EXPECT_EQ(extracted.count("connectivity_metadata.json"), 1u);
  EXPECT_EQ(extracted, files_below(form));
  make_runner(options_);
  EXPECT_THAT(names_in(cache_), ElementsAre("vaiml_par_0")) << "the next model has none";
}

TEST_F(CacheTest, RunnersMayShareItAtTheSameTime) {
  std::vector<std::string> paths;
  for (uint32_t batch : {1u, 2u}) {
    paths.push_back(directory_.file("model" + std::to_string(batch) + ".rai"));
    const test::TinyModelOptions options = {.batch_size = batch, .cpu_partition = batch == 2};
    ASSERT_TRUE(test::write_tiny_model(paths.back(), options).ok());
  }
  const auto create_many = [&](const std::string& path) {
    for (int i = 0; i < 20; ++i)
      EXPECT_NO_THROW(RunnerFactory::create_runner(RunnerType::VAIML, path, options_));
  };
  std::thread other([&] { create_many(paths[0]); });
  create_many(paths[1]);
  other.join();
  EXPECT_THAT(names_in(cache_), Each(AnyOf(StartsWith("vaiml_"), "connectivity_metadata.json")));
  EXPECT_LE(batch_of(cache_), 2u) << "one of them, whole";
}

TEST_F(CacheTest, AModelThatIsADirectoryIsNotExtracted) {
  const std::string form = directory_.file("form");
  ASSERT_TRUE(test::write_tiny_model(form, {}, model::ArchiveForm::kDirectory).ok());
  const test::LogCapture log;
  RunnerFactory::create_runner(RunnerType::VAIML, form, {{"cache_path", cache_}, {"debug", true}});
  EXPECT_FALSE(fs::exists(cache_));
  EXPECT_THAT(log.lines(), Contains(HasSubstr("nothing to extract")));
}

TEST_F(CacheTest, RefusesAPlaceThatCannotBeWrittenWithTheReason) {
  std::ofstream(directory_.file("file")) << "in the way";
  const std::string below_a_file = directory_.file("file") + "/cache";
  try {
    make_runner({{"cache_path", below_a_file}});
    FAIL() << "accepted";
  } catch (const std::runtime_error& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("cache_path"), HasSubstr(below_a_file),
                                    HasSubstr("Not a directory")));
  }
}

TEST_F(CacheTest, WithoutItNothingIsCreated) {
  const std::string path = model();
  const fs::path before = fs::current_path();
  const test::TemporaryDirectory empty;
  fs::current_path(empty.path());
  {
    const auto runner = RunnerFactory::create_runner(RunnerType::VAIML, path);
    Tensors in = inputs(*runner), out = outputs(*runner);
    EXPECT_EQ(runner->execute(in, out), StatusCode::SUCCESS);
  }
  fs::current_path(before);
  EXPECT_TRUE(fs::is_empty(empty.path()));
  EXPECT_THAT(names_in(directory_.path()), ElementsAre("tiny.rai"));
}

}  // namespace
}  // namespace millrace::vartml
