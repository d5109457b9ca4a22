// nrt_inspect_*: what a configuration takes, and the one profile that exists.
#include <gmock/gmock.h>

#include <filesystem>

#include "nrt/nrt_profile.h"
#include "tests/nrt/trace_fixture.h"

namespace millrace::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class Inspect : public TraceTest {
 protected:
  Inspect() { EXPECT_EQ(nrt_inspect_config_allocate(&config_), NRT_SUCCESS); }
  ~Inspect() override {
    nrt_inspect_stop();
    nrt_inspect_config_free(config_);
  }

  std::vector<std::string> enabled_activities() {
    const char** activities = nullptr;
    size_t count = 0;
    EXPECT_EQ(nrt_inspect_config_get_enabled_activity_types(config_, &activities, &count),
              NRT_SUCCESS);
    std::vector<std::string> names = names_of(activities, count);
    nrt_inspect_config_free_activity_types(activities, count);
    return names;
  }
  // A system profile, in a directory that does not exist yet.
  void ask_for_a_system_profile() {
    ASSERT_EQ(nrt_inspect_config_set_activity(config_, "system_profile", true), NRT_SUCCESS);
    ASSERT_EQ(nrt_inspect_config_set_output_dir(config_, output_.c_str()), NRT_SUCCESS);
    ASSERT_EQ(nrt_inspect_config_set_session_id(config_, 7), NRT_SUCCESS);
  }

  nrt_inspect_config_t* config_ = nullptr;
  const std::string output_ = directory_.file("output");
};

TEST_F(Inspect, ListsTheActivities) {
  const char** activities = nullptr;
  size_t count = 0;
  ASSERT_EQ(nrt_inspect_config_get_all_activity_types(&activities, &count), NRT_SUCCESS);
  EXPECT_THAT(names_of(activities, count),
              ElementsAre("system_profile", "device_profile", "host_memory", "cpu_util", "all"));
  nrt_inspect_config_free_activity_types(activities, count);
}

TEST_F(Inspect, RemembersTheActivities) {
  EXPECT_THAT(enabled_activities(), IsEmpty());
  ASSERT_EQ(nrt_inspect_config_set_activity(config_, "all", true), NRT_SUCCESS);
  ASSERT_EQ(nrt_inspect_config_set_activity(config_, "cpu_util", false), NRT_SUCCESS);
  EXPECT_THAT(enabled_activities(), ElementsAre("system_profile", "device_profile", "host_memory"));
  ASSERT_EQ(nrt_inspect_config_set_defaults(config_), NRT_SUCCESS);
  EXPECT_THAT(enabled_activities(), IsEmpty());
}

TEST_F(Inspect, RefusesWrongValues) {
  EXPECT_EQ(nrt_inspect_config_set_activity(config_, "no_such", true), NRT_INVALID);
  EXPECT_EQ(nrt_inspect_config_set_activity(config_, nullptr, true), NRT_INVALID);
  EXPECT_EQ(nrt_inspect_config_set_output_dir(config_, ""), NRT_INVALID);
  EXPECT_EQ(nrt_inspect_config_set_output_dir(config_, nullptr), NRT_INVALID);
  EXPECT_EQ(nrt_inspect_config_set_capture_enabled_for_nc(config_, 1u << 20, true), NRT_INVALID);
  EXPECT_EQ(nrt_inspect_config_set_capture_enabled_for_event_type_string(config_, "no_such", true),
            NRT_INVALID);
}

TEST_F(Inspect, TakesNull) {
  EXPECT_EQ(nrt_inspect_config_allocate(nullptr), NRT_INVALID);
  EXPECT_EQ(nrt_inspect_config_free(nullptr), NRT_SUCCESS);
  nrt_inspect_config_free_activity_types(nullptr, 0);
  EXPECT_EQ(nrt_inspect_begin_with_options(nullptr), NRT_INVALID);
  EXPECT_EQ(nrt_inspect_config_set_enable_inspect(nullptr, true), NRT_INVALID);
  EXPECT_EQ(nrt_inspect_config_set_enable_inspect_on_fail(nullptr, true), NRT_INVALID);
  EXPECT_EQ(nrt_inspect_config_get_all_activity_types(nullptr, nullptr), NRT_INVALID);
}

TEST_F(Inspect, AcceptsWhatHasNoEffect) {
  EXPECT_EQ(nrt_inspect_config_set_enable_inspect_on_fail(config_, true), NRT_SUCCESS);
  EXPECT_EQ(nrt_inspect_config_set_inspect_device_profile_mode(
                config_, NRT_INSPECT_DEVICE_PROFILE_MODE_SESSION),
            NRT_SUCCESS);
  EXPECT_EQ(nrt_inspect_begin(), NRT_SUCCESS);
  EXPECT_EQ(nrt_inspect_begin_with_options(config_), NRT_SUCCESS);
  EXPECT_EQ(nrt_inspect_stop(), NRT_SUCCESS);
  EXPECT_EQ(nrt_inspect_stop(), NRT_SUCCESS);
}

TEST_F(Inspect, WritesTheSystemProfile) {
  ask_for_a_system_profile();
  ASSERT_EQ(nrt_inspect_config_set_sys_trace_max_events_per_nc(config_, 100), NRT_SUCCESS);
  ASSERT_EQ(nrt_inspect_config_set_capture_enabled_for_event_type_string(config_,
                                                                         "nrt_tensor_write", false),
            NRT_SUCCESS);
  ASSERT_EQ(nrt_inspect_begin_with_options(config_), NRT_SUCCESS);
  write_input(some_input(1));
  ASSERT_EQ(execute(), NRT_SUCCESS);
  ASSERT_EQ(nrt_inspect_stop(), NRT_SUCCESS);
  const Json trace = parse_file(output_ + "/system_profile_7.json");
  EXPECT_EQ(of_type(trace, "nc_exec_running").size(), 2u);
  EXPECT_EQ(of_type(trace, "nrt_tensor_write").size(), 0u);
}

TEST_F(Inspect, WritesNothingWhenItIsDisabled) {
  ask_for_a_system_profile();
  ASSERT_EQ(nrt_inspect_config_set_enable_inspect(config_, false), NRT_SUCCESS);
  ASSERT_EQ(nrt_inspect_begin_with_options(config_), NRT_SUCCESS);
  ASSERT_EQ(nrt_inspect_stop(), NRT_SUCCESS);
  EXPECT_FALSE(std::filesystem::exists(output_));
}

TEST_F(Inspect, DoesNotBeginWhereItCannotWrite) {
  ask_for_a_system_profile();
  std::ofstream(output_) << "a file where the directory should be";
  EXPECT_EQ(nrt_inspect_begin_with_options(config_), NRT_FAILURE);
  EXPECT_EQ(nrt_inspect_stop(), NRT_SUCCESS) << "there is nothing to write";
}

TEST_F(Inspect, GoesOnUntilItIsWritten) {
  ask_for_a_system_profile();
  ASSERT_EQ(nrt_inspect_begin_with_options(config_), NRT_SUCCESS);
  ASSERT_EQ(execute(), NRT_SUCCESS);
  std::filesystem::remove(output_);
  std::ofstream(output_) << "a file where the directory was";
  EXPECT_EQ(nrt_inspect_stop(), NRT_FAILURE);
  ASSERT_EQ(execute(), NRT_SUCCESS);
  std::filesystem::remove(output_);
  ASSERT_EQ(nrt_inspect_stop(), NRT_SUCCESS);
  EXPECT_EQ(of_type(parse_file(output_ + "/system_profile_7.json"), "nc_exec_running").size(), 4u);
}

}  // namespace
}  // namespace millrace::test
