#include "runtime/loading/profile.h"

#include <gmock/gmock.h>

#include "tests/support/pattern_device.h"
#include "tests/support/test_run.h"
#include "tests/support/tiny_model.h"

namespace millrace::runtime {
namespace {

class ProfileTest : public ::testing::Test {
 protected:
  // A frame as executor and device report it; the program has one step.
  void run_frame(uint32_t frame) {
    control_.begin_frame(frame);
    control_.begin_step(0);
    control_.end_steps();
  }
  static int64_t sum(const ProfileTotals& totals) {
    int64_t ns = totals.inputs.total_ns + totals.outputs.total_ns;
    for (const TimeShare& step : totals.steps) ns += step.total_ns;
    return ns;
  }

  test::TestRun control_;
  test::PatternDevice device_{1};
  const std::shared_ptr<const device::Program> program_ =
      device_.load(std::make_shared<const graph::CompiledModel>(test::tiny_model())).value();
  Profile profile_{*program_};
};

TEST_F(ProfileTest, EveryMomentOfAJobBelongsToOneShare) {
  for (int job = 0; job < 3; ++job) {
    const Profile::Run run(profile_, control_);
    for (uint32_t frame = 0; frame < 2; ++frame) run_frame(frame);
  }
  const ProfileTotals totals = profile_.totals();
  EXPECT_EQ(totals.jobs, 3u);
  EXPECT_EQ(totals.frames, 6u);
  EXPECT_EQ(totals.inputs.calls, 6u);
  EXPECT_EQ(totals.steps.at(0).calls, 6u);
  EXPECT_EQ(totals.outputs.calls, 6u);
  EXPECT_GT(totals.execute_ns, 0);
  EXPECT_EQ(sum(totals), totals.execute_ns);
}

TEST_F(ProfileTest, AJobThatEndsEarlyCountsAsFarAsItCame) {
  {
    const Profile::Run run(profile_, control_);
    run_frame(0);
    control_.begin_frame(1);
  }
  const ProfileTotals totals = profile_.totals();
  EXPECT_EQ(totals.frames, 2u);
  EXPECT_EQ(totals.inputs.calls, 2u);
  EXPECT_EQ(totals.steps.at(0).calls, 1u);
  EXPECT_EQ(sum(totals), totals.execute_ns);
}

TEST_F(ProfileTest, JobsThatRunAtTheSameTimeAreKeptApart) {
  test::TestRun other;
  {
    const Profile::Run first(profile_, control_);
    control_.begin_frame(0);
    {
      const Profile::Run second(profile_, other);
      other.begin_frame(0);
      other.begin_step(0);
    }
    control_.begin_step(0);
  }
  const ProfileTotals totals = profile_.totals();
  EXPECT_EQ(totals.jobs, 2u);
  EXPECT_EQ(totals.frames, 2u);
  EXPECT_EQ(totals.steps.at(0).calls, 2u);
  EXPECT_EQ(sum(totals), totals.execute_ns);
}

TEST_F(ProfileTest, SeesOnlyTheJobsItIsToldOf) {
  { const Profile::Run run(profile_, control_); }
  run_frame(0);
  EXPECT_EQ(profile_.totals().frames, 0u);
  EXPECT_FALSE(control_.is_observed());
}

TEST(TimeShare, KeepsTheExtremes) {
  TimeShare share;
  share.add({});
  for (const int64_t ns : {5, 3, 9}) share.add({1, ns, ns, ns});
  EXPECT_EQ(share.calls, 3u);
  EXPECT_EQ(share.total_ns, 17);
  EXPECT_EQ(share.min_ns, 3);
  EXPECT_EQ(share.max_ns, 9);
}

}  // namespace
}  // namespace millrace::runtime
