// The option ai_analyzer_profiling: where the time goes, in a file.
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "tests/support/log_capture.h"
#include "tests/vart/runner_fixture.h"

namespace millrace::vartml {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

class ProfileFileTest : public RunnerTest {
 protected:
  ProfileFileTest() { use_device("cpu"); }

  std::vector<json> profiles() const {
    std::vector<json> found;
    for (const auto& entry : fs::directory_iterator(cache_)) {
      if (entry.path().extension() != ".json") continue;
      EXPECT_THAT(entry.path().filename().string(), HasSubstr("tiny_profile_"));
      std::ifstream file(entry.path());
      found.push_back(json::parse(file));
    }
    return found;
  }
  static std::vector<json> of_kind(const json& profile, const char* kind) {
    std::vector<json> found;
    for (const json& entry : profile["entries"])
      if (entry["kind"] == kind) found.push_back(entry);
    return found;
  }

  const std::string cache_ = directory_.file("cache");
  const Options options_ = {{"ai_analyzer_profiling", true}, {"cache_path", cache_}};
};

TEST_F(ProfileFileTest, TellsTimesAndShapesOfEveryOperator) {
  {
    const std::shared_ptr<Runner> runner = make_runner(options_, {.batch_size = 2});
    Tensors in = inputs(*runner, 2, TensorType::CPU), out = outputs(*runner, 2);
    EXPECT_EQ(runner->execute(in, out), StatusCode::SUCCESS);
    EXPECT_EQ(runner->wait(runner->execute_async(in, out), kForever), StatusCode::SUCCESS);
  }
  const std::vector<json> found = profiles();
  ASSERT_THAT(found, SizeIs(1));
  const json& profile = found[0];
  EXPECT_EQ(profile["model"], "tiny");
  EXPECT_EQ(profile["device"], "cpu");
  EXPECT_EQ(profile["precision"], "fp32");
  EXPECT_EQ(profile["jobs"], 2);
  EXPECT_EQ(profile["frames"], 4);

  bool convolution = false;
  for (const json& step : of_kind(profile, "operator")) {
    EXPECT_FALSE(step["implementation"].get<std::string>().empty());
    if (step["node"] != "conv") continue;
    convolution = true;
    EXPECT_EQ(step["operation"], "Conv");
    EXPECT_EQ(step["output"], "probs");
    EXPECT_EQ(step["shape"], json({1, 10, 4, 4}));
    EXPECT_EQ(step["calls"], 4);
  }
  EXPECT_TRUE(convolution);
  EXPECT_THAT(of_kind(profile, "inputs"), ElementsAre(Contains(json(4))));
  EXPECT_THAT(of_kind(profile, "outputs"), ElementsAre(Contains(json(4))));
}

TEST_F(ProfileFileTest, TheEntriesSumUpToTheTimeOfTheJobs) {
  {
    const std::shared_ptr<Runner> runner = make_runner(options_);
    Tensors in = inputs(*runner), out = outputs(*runner);
    for (int i = 0; i < 10; ++i) EXPECT_EQ(runner->execute(in, out), StatusCode::SUCCESS);
  }
  const std::vector<json> found = profiles();
  ASSERT_THAT(found, SizeIs(1));
  double sum = 0;
  for (const json& entry : found[0]["entries"]) {
    sum += entry["total_us"].get<double>();
    EXPECT_LE(entry["min_us"], entry["max_us"]);
  }
  const double execute = found[0]["execute_us"];
  EXPECT_GT(execute, 0);
  EXPECT_NEAR(sum, execute, execute * 0.05);
}

TEST_F(ProfileFileTest, EveryRunnerHasAFileAndTheLogSaysWhere) {
  const test::LogCapture log;
  make_runner(options_);
  make_runner(options_);
  EXPECT_THAT(profiles(), SizeIs(2));
  EXPECT_THAT(log.lines(), Contains(AllOf(HasSubstr("INFO"), HasSubstr("the profile is in"),
                                          HasSubstr(cache_))));
}

TEST_F(ProfileFileTest, WithoutACachePathItIsInTheDirectoryTheRunnerWasMadeIn) {
  const std::string path = model();
  const fs::path before = fs::current_path();
  const test::TemporaryDirectory here;
  fs::current_path(here.path());
  auto runner =
      RunnerFactory::create_runner(RunnerType::VAIML, path, {{"ai_analyzer_profiling", true}});
  EXPECT_TRUE(fs::is_empty(here.path()));
  fs::current_path(before);
  runner.reset();
  EXPECT_FALSE(fs::is_empty(here.path()));
}

TEST_F(ProfileFileTest, ARunnerThatCannotWriteItSaysSo) {
  const test::LogCapture log;
  auto runner = make_runner(options_);
  fs::remove_all(cache_);
  std::ofstream(cache_) << "in the way";
  runner.reset();
  EXPECT_THAT(log.lines(), Contains(AllOf(HasSubstr("ERROR"), HasSubstr("cannot write the profile"),
                                          HasSubstr(cache_))));
}

}  // namespace
}  // namespace millrace::vartml
