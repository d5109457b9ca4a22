// nrt_profile_*, nrt_trace_*: files for trace viewers.
#include <filesystem>

#include "nrt/nrt_experimental.h"
#include "nrt/nrt_profile.h"
#include "tests/nrt/trace_fixture.h"

namespace millrace::test {
namespace {

class Profile : public TraceTest {
 protected:
  const std::string file_ = directory_.file("profile.json");
  const std::string elsewhere_ = directory_.file("elsewhere");  // a directory that is missing
};

std::vector<Json> named(const std::vector<Json>& slices, const std::string& name) {
  std::vector<Json> found;
  for (const Json& slice : slices)
    if (slice.at("name") == name) found.push_back(slice);
  return found;
}

double begin_of(const Json& slice) {
  return slice.at("ts");
}
double end_of(const Json& slice) {
  return slice.at("ts").get<double>() + slice.at("dur").get<double>();
}

TEST_F(Profile, HasASliceForEachExecution) {
  ASSERT_EQ(execute(), NRT_SUCCESS);
  ASSERT_EQ(nrt_profile_start(model_, file_.c_str()), NRT_SUCCESS);
  for (int i = 0; i < 3; ++i) schedule_and_wait();
  ASSERT_EQ(nrt_profile_stop(file_.c_str()), NRT_SUCCESS);
  ASSERT_EQ(execute(), NRT_SUCCESS);
  const std::vector<Json> executions = named(slices_of(parse_file(file_)), "tiny");
  ASSERT_EQ(executions.size(), 3u);
  EXPECT_EQ(executions[0].at("args").at("status"), "NRT_SUCCESS");
  EXPECT_TRUE(executions[0].at("args").contains("sequence_id"));
  for (const Json& execution : executions) EXPECT_GT(execution.at("dur"), 0);
}

TEST_F(Profile, DividesAnExecutionIntoItsOperators) {
  ASSERT_EQ(nrt_profile_start(model_, file_.c_str()), NRT_SUCCESS);
  ASSERT_EQ(execute(), NRT_SUCCESS);
  ASSERT_EQ(nrt_profile_stop(file_.c_str()), NRT_SUCCESS);
  const std::vector<Json> slices = slices_of(parse_file(file_));
  ASSERT_GE(slices.size(), 4u);
  const Json& execution = slices[0];
  EXPECT_EQ(execution.at("name"), "tiny");
  EXPECT_EQ(slices[1].at("name"), "inputs");
  EXPECT_EQ(named(slices, "conv").size(), 1u);
  EXPECT_EQ(slices.back().at("name"), "outputs");
  // Without gaps, from the begin of the execution to its end; times are rounded in the file.
  constexpr double kRounding = 0.01;
  double reached = begin_of(execution);
  for (size_t i = 1; i < slices.size(); ++i) {
    EXPECT_NEAR(begin_of(slices[i]), reached, kRounding);
    reached = end_of(slices[i]);
  }
  EXPECT_NEAR(reached, end_of(execution), kRounding);
}

TEST_F(Profile, HasAllFramesOfABatch) {
  nrt_model_t* const batched = load(0, {.batch_size = 3});
  const ScopedTensor input(3 * kTinyInputBytes), output(3 * kTinyOutputBytes);
  const ScopedSet inputs(kTinyInput, input.get()), outputs(kTinyOutput, output.get());
  ASSERT_EQ(nrt_profile_start(batched, file_.c_str()), NRT_SUCCESS);
  ASSERT_EQ(nrt_execute(batched, inputs.get(), outputs.get()), NRT_SUCCESS);
  ASSERT_EQ(nrt_profile_stop(file_.c_str()), NRT_SUCCESS);
  const std::vector<Json> convolutions = named(slices_of(parse_file(file_)), "conv");
  ASSERT_EQ(convolutions.size(), 3u);
  EXPECT_EQ(convolutions[2].at("args").at("frame"), 2);
}

TEST_F(Profile, LeavesOtherModelsOut) {
  nrt_model_t* const other = load(0, {.batch_size = 2});
  ASSERT_EQ(nrt_profile_start(other, file_.c_str()), NRT_SUCCESS);
  ASSERT_EQ(execute(), NRT_SUCCESS);
  ASSERT_EQ(nrt_profile_stop(file_.c_str()), NRT_SUCCESS);
  EXPECT_TRUE(slices_of(parse_file(file_)).empty());
}

TEST_F(Profile, TellsHowAnExecutionFailed) {
  ASSERT_EQ(nrt_profile_start(model_, file_.c_str()), NRT_SUCCESS);
  executions().fail_nth(1);
  EXPECT_EQ(execute(), NRT_HW_ERROR);
  ASSERT_EQ(nrt_profile_stop(file_.c_str()), NRT_SUCCESS);
  const std::vector<Json> slices = slices_of(parse_file(file_));
  ASSERT_FALSE(slices.empty());
  EXPECT_EQ(slices[0].at("args").at("status"), "NRT_HW_ERROR");
}

TEST_F(Profile, OutlivesItsModel) {
  ASSERT_EQ(nrt_profile_start(model_, file_.c_str()), NRT_SUCCESS);
  ASSERT_EQ(execute(), NRT_SUCCESS);
  ASSERT_EQ(nrt_unload(model_), NRT_SUCCESS);
  ASSERT_EQ(nrt_profile_stop(file_.c_str()), NRT_SUCCESS);
  EXPECT_EQ(named(slices_of(parse_file(file_)), "tiny").size(), 1u);
}

TEST_F(Profile, RefusesWhatCannotBe) {
  EXPECT_EQ(nrt_profile_stop(file_.c_str()), NRT_INVALID);
  EXPECT_EQ(nrt_profile_stop(nullptr), NRT_INVALID);
  EXPECT_EQ(nrt_profile_start(nullptr, file_.c_str()), NRT_INVALID_HANDLE);
  EXPECT_EQ(nrt_profile_start(model_, nullptr), NRT_INVALID);
  EXPECT_EQ(nrt_profile_start(model_, ""), NRT_INVALID);
  ASSERT_EQ(nrt_profile_start(model_, file_.c_str()), NRT_SUCCESS);
  EXPECT_EQ(nrt_profile_start(model_, file_.c_str()), NRT_INVALID);
  EXPECT_EQ(nrt_profile_stop(file_.c_str()), NRT_SUCCESS);
}

TEST_F(Profile, DoesNotStartWhereItCannotWrite) {
  const std::string nowhere = directory_.file("missing") + "/profile.json";
  EXPECT_EQ(nrt_profile_start(model_, nowhere.c_str()), NRT_FAILURE);
  EXPECT_EQ(nrt_profile_start(model_, directory_.path().string().c_str()), NRT_FAILURE)
      << "it is a directory";
  EXPECT_EQ(nrt_profile_stop(nowhere.c_str()), NRT_INVALID) << "it has not begun";
  ASSERT_EQ(nrt_profile_start(model_, file_.c_str()), NRT_SUCCESS);
  EXPECT_TRUE(std::filesystem::is_empty(directory_.path())) << "the check leaves nothing";
  EXPECT_EQ(nrt_profile_stop(file_.c_str()), NRT_SUCCESS);
}

TEST_F(Profile, GoesOnUntilItIsWritten) {
  std::filesystem::create_directory(elsewhere_);
  const std::string file = elsewhere_ + "/profile.json";
  ASSERT_EQ(nrt_profile_start(model_, file.c_str()), NRT_SUCCESS);
  ASSERT_EQ(execute(), NRT_SUCCESS);
  std::filesystem::remove(elsewhere_);
  EXPECT_EQ(nrt_profile_stop(file.c_str()), NRT_FAILURE);
  ASSERT_EQ(execute(), NRT_SUCCESS);
  std::filesystem::create_directory(elsewhere_);
  ASSERT_EQ(nrt_profile_stop(file.c_str()), NRT_SUCCESS);
  EXPECT_EQ(named(slices_of(parse_file(file)), "tiny").size(), 2u);
  EXPECT_EQ(nrt_profile_stop(file.c_str()), NRT_INVALID) << "it has ended";
}

TEST_F(Profile, ContinuousSavesTheExecutionsOfACore) {
  nrt_profile_continuous_options_t* options = nullptr;
  ASSERT_EQ(nrt_profile_continuous_options_allocate(&options), NRT_SUCCESS);
  EXPECT_EQ(nrt_profile_continuous_options_set_output_dir(options, ""), NRT_INVALID);
  ASSERT_EQ(
      nrt_profile_continuous_options_set_output_dir(options, directory_.path().string().c_str()),
      NRT_SUCCESS);
  EXPECT_EQ(nrt_profile_continuous_save(0, options), NRT_INVALID) << "it has not begun";
  ASSERT_EQ(nrt_profile_continuous_start(options), NRT_SUCCESS);
  EXPECT_EQ(nrt_profile_continuous_start(nullptr), NRT_INVALID);
  ASSERT_EQ(execute(), NRT_SUCCESS);
  EXPECT_EQ(nrt_profile_continuous_save(2, options), NRT_INVALID) << "there is no such core";
  for (const uint32_t vnc : {0u, 1u})
    EXPECT_EQ(nrt_profile_continuous_save(vnc, options), NRT_SUCCESS);
  EXPECT_EQ(nrt_profile_continuous_stop(), NRT_SUCCESS);
  EXPECT_EQ(nrt_profile_continuous_stop(), NRT_INVALID);
  EXPECT_EQ(slices_of(parse_file(directory_.file("profile_vnc_0.json"))).size(), 1u);
  EXPECT_TRUE(slices_of(parse_file(directory_.file("profile_vnc_1.json"))).empty());
  EXPECT_EQ(nrt_profile_continuous_options_free(options), NRT_SUCCESS);
}

TEST_F(Profile, ContinuousKeepsWhatItCouldNotSave) {
  nrt_profile_continuous_options_t* options = nullptr;
  ASSERT_EQ(nrt_profile_continuous_options_allocate(&options), NRT_SUCCESS);
  nrt_profile_continuous_options_set_output_dir(options, elsewhere_.c_str());
  ASSERT_EQ(nrt_profile_continuous_start(nullptr), NRT_SUCCESS);
  ASSERT_EQ(execute(), NRT_SUCCESS);
  EXPECT_EQ(nrt_profile_continuous_save(0, options), NRT_FAILURE);
  std::filesystem::create_directory(elsewhere_);
  const std::string file = elsewhere_ + "/profile_vnc_0.json";
  for (const size_t executions : {1u, 0u}) {
    EXPECT_EQ(nrt_profile_continuous_save(0, options), NRT_SUCCESS);
    EXPECT_EQ(slices_of(parse_file(file)).size(), executions);
  }
  EXPECT_EQ(nrt_profile_continuous_stop(), NRT_SUCCESS);
  nrt_profile_continuous_options_free(options);
}

TEST_F(Profile, TraceHasTheCalls) {
  EXPECT_EQ(nrt_trace_stop(file_.c_str()), NRT_INVALID);
  ASSERT_EQ(nrt_trace_start(false), NRT_SUCCESS);
  EXPECT_EQ(nrt_trace_start(false), NRT_INVALID);
  { const ScopedTensor tensor(16); }
  ASSERT_EQ(execute(), NRT_SUCCESS);
  ASSERT_EQ(nrt_trace_stop(file_.c_str()), NRT_SUCCESS);
  const std::vector<Json> slices = slices_of(parse_file(file_));
  EXPECT_EQ(named(slices, "nrt_execute").size(), 1u);
  EXPECT_EQ(named(slices, "tiny").size(), 1u) << "the execution itself";
  EXPECT_TRUE(named(slices, "nrt_tensor_allocate").empty()) << "memory was not asked for";
}

TEST_F(Profile, TraceHasMemoryWhereItIsAskedFor) {
  ASSERT_EQ(nrt_trace_start(true), NRT_SUCCESS);
  { const ScopedTensor tensor(16); }
  ASSERT_EQ(nrt_trace_stop(file_.c_str()), NRT_SUCCESS);
  EXPECT_EQ(named(slices_of(parse_file(file_)), "nrt_tensor_allocate").size(), 1u);
}

TEST_F(Profile, TraceGoesOnUntilItIsWritten) {
  ASSERT_EQ(nrt_trace_start(false), NRT_SUCCESS);
  ASSERT_EQ(execute(), NRT_SUCCESS);
  EXPECT_EQ(nrt_trace_stop((elsewhere_ + "/trace.json").c_str()), NRT_FAILURE);
  ASSERT_EQ(execute(), NRT_SUCCESS);
  ASSERT_EQ(nrt_trace_stop(file_.c_str()), NRT_SUCCESS);
  EXPECT_EQ(named(slices_of(parse_file(file_)), "nrt_execute").size(), 2u);
  EXPECT_EQ(nrt_trace_stop(file_.c_str()), NRT_INVALID) << "it has ended";
}

}  // namespace
}  // namespace millrace::test
