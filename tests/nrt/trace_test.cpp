// nrt_sys_trace_*: what is recorded, what is not, and how it comes out.
#include <gmock/gmock.h>

#include <map>
#include <thread>

#include "tests/nrt/trace_fixture.h"

namespace millrace::test {
namespace {

using testing::ElementsAre;
using testing::IsSupersetOf;

class Trace : public TraceTest {};

TEST_F(Trace, PairsTheEndsOfAnEvent) {
  start();
  ASSERT_EQ(execute(), NRT_SUCCESS);
  const std::vector<Json> events = of_type(fetch(), "nrt_execute");
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[0].at("phase"), "start");
  EXPECT_EQ(events[1].at("phase"), "stop");
  EXPECT_EQ(events[0].at("tracking_id"), events[1].at("tracking_id"));
  EXPECT_LE(events[0].at("timestamp_ns"), events[1].at("timestamp_ns"));
  EXPECT_EQ(events[0].at("nc_idx"), 0);
  EXPECT_EQ(events[1].at("data").at("status"), "NRT_SUCCESS");
}

TEST_F(Trace, TellsWhenTheCoreRanTheModel) {
  start();
  ASSERT_EQ(execute(), NRT_SUCCESS);
  const std::vector<Json> events = of_type(fetch(), "nc_exec_running");
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[0].at("data").at("model"), "tiny");
  EXPECT_GT(events[0].at("data").at("nc_timestamp_ns"), 0);
  EXPECT_LT(events[0].at("data").at("nc_timestamp_ns"), events[1].at("data").at("nc_timestamp_ns"));
}

TEST_F(Trace, GivesAScheduledExecutionItsSequenceId) {
  start();
  const nrta_seq_t sequence = schedule_and_wait();
  const Json trace = fetch();
  for (const char* type : {"nrta_execute_schedule", "nc_exec_running"}) {
    const std::vector<Json> events = of_type(trace, type);
    ASSERT_EQ(events.size(), 2u) << type;
    for (const Json& event : events)
      EXPECT_EQ(event.at("data").at("sequence_id"), hex(sequence)) << type;
  }
}

TEST_F(Trace, GivesAScheduledTransferItsSequenceId) {
  const std::vector<float> numbers = some_input(1);
  start();
  nrta_seq_t sequence = 0;
  NRT_STATUS ret = NRT_FAILURE;
  ASSERT_EQ(
      nrta_tensor_write(input_.get(), numbers.data(), 0, kTinyInputBytes, 1, 0, &ret, &sequence),
      NRT_SUCCESS);
  await(sequence);
  const std::vector<Json> events = of_type(fetch(), "nrta_tensor_write");
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[0].at("data").at("sequence_id"), hex(sequence));
  EXPECT_EQ(events[0].at("nc_idx"), 1);
}

TEST_F(Trace, NamesTheCalls) {
  start();
  nrt_unload(load());
  { const ScopedTensor tensor(64); }
  write_input(some_input(1));
  read_output();
  const Json trace = fetch();
  for (const char* type : {"nrt_load", "nrt_unload", "nrt_tensor_allocate", "nrt_tensor_free",
                           "nrt_tensor_write", "nrt_tensor_read"})
    EXPECT_EQ(of_type(trace, type).size(), 2u) << type;
}

TEST_F(Trace, TellsWhatAFailingCallReturned) {
  start();
  EXPECT_EQ(nrt_tensor_read(input_.get(), nullptr, 0, kTinyInputBytes + 1), NRT_INVALID);
  EXPECT_EQ(of_type(fetch(), "nrt_tensor_read").at(1).at("data").at("status"), "NRT_INVALID");
}

TEST_F(Trace, RecordsACallWithinACallOnce) {
  start();
  // Looks two tensors up, each as a call of its own would.
  ASSERT_EQ(nrt_tensor_copy(input_.get(), 0, output_.get(), 0, 16), NRT_SUCCESS);
  EXPECT_EQ(fetched_count(), 2u);
}

TEST_F(Trace, RecordsALoadForCollectivesAsThat) {
  const std::vector<std::byte> bytes = tiny_archive();
  nrt_model_t* model = nullptr;
  start();
  ASSERT_EQ(nrt_load_collectives(bytes.data(), bytes.size(), 1, 1, 0, 1, &model), NRT_SUCCESS);
  const Json trace = fetch();
  EXPECT_EQ(trace.at("events").size(), 2u);
  EXPECT_EQ(of_type(trace, "nrt_load_collectives").size(), 2u);
}

TEST_F(Trace, HandsEachEventOutOnce) {
  start();
  ASSERT_EQ(execute(), NRT_SUCCESS);
  EXPECT_GT(fetched_count(), 0u);
  EXPECT_EQ(fetched_count(), 0u);
}

TEST_F(Trace, KeepsWhatWasRecordedWhenItStops) {
  start();
  ASSERT_EQ(execute(), NRT_SUCCESS);
  ASSERT_EQ(nrt_sys_trace_stop(), NRT_SUCCESS);
  ASSERT_EQ(execute(), NRT_SUCCESS);
  EXPECT_EQ(of_type(fetch(), "nrt_execute").size(), 2u);
}

TEST_F(Trace, BeginsAnew) {
  start();
  ASSERT_EQ(execute(), NRT_SUCCESS);
  EXPECT_EQ(nrt_sys_trace_start(nullptr), NRT_INVALID);
  ASSERT_EQ(nrt_sys_trace_stop(), NRT_SUCCESS);
  ASSERT_EQ(nrt_sys_trace_start(nullptr), NRT_SUCCESS);
  EXPECT_EQ(fetched_count(), 0u);
}

TEST_F(Trace, KeepsTheLatestEventsOfACore) {
  nrt_sys_trace_config_set_max_events_per_nc(trace_config_, 4);
  start();
  for (int i = 0; i < 5; ++i) write_input(some_input(1));
  nrt_sys_trace_stop();
  const Json all = fetch();
  ASSERT_EQ(all.at("events").size(), 4u);
  std::map<uint64_t, int> ends;
  for (const Json& event : all.at("events")) ++ends[event.at("tracking_id")];
  ASSERT_EQ(ends.size(), 2u);
  EXPECT_EQ(ends.begin()->second, 2);
  EXPECT_EQ(ends.rbegin()->first, ends.begin()->first + 1);
}

TEST_F(Trace, FetchesInPortions) {
  start();
  for (int i = 0; i < 3; ++i) write_input(some_input(1));
  nrt_sys_trace_fetch_options_set_max_events_per_nc(fetch_options_, 4);
  const Json first = fetch(fetch_options_), second = fetch(fetch_options_);
  EXPECT_EQ(first.at("events").size(), 4u);
  ASSERT_EQ(second.at("events").size(), 2u);
  EXPECT_LT(first.at("events")[0].at("timestamp_ns"), second.at("events")[0].at("timestamp_ns"));
}

TEST_F(Trace, FetchesOfOneCore) {
  start();
  const ScopedTensor elsewhere(16, 1);
  const ScopedTensor here(16, 0);
  nrt_sys_trace_fetch_options_set_nc_idx(fetch_options_, 1);
  nrt_sys_trace_fetch_options_set_nc_idx(fetch_options_, 1u << 20);  // has no effect
  const Json trace = fetch(fetch_options_);
  ASSERT_EQ(trace.at("events").size(), 2u);
  EXPECT_EQ(trace.at("events")[0].at("nc_idx"), 1);
  EXPECT_EQ(fetched_count(), 2u);
}

TEST_F(Trace, LeavesCoresOut) {
  nrt_sys_trace_config_set_capture_enabled_for_nc(trace_config_, 0, false);
  start();
  ASSERT_EQ(execute(), NRT_SUCCESS);
  const ScopedTensor elsewhere(16, 1);
  EXPECT_EQ(fetched_count(), 2u);
}

TEST_F(Trace, LeavesTypesOut) {
  ASSERT_EQ(nrt_sys_trace_config_set_capture_enabled_for_event_type(trace_config_,
                                                                    "nc_exec_running", false),
            NRT_SUCCESS);
  start();
  ASSERT_EQ(execute(), NRT_SUCCESS);
  const Json trace = fetch();
  EXPECT_EQ(of_type(trace, "nc_exec_running").size(), 0u);
  EXPECT_EQ(of_type(trace, "nrt_execute").size(), 2u);
}

TEST_F(Trace, RefusesUnknownTypes) {
  EXPECT_EQ(nrt_sys_trace_config_set_capture_enabled_for_event_type(trace_config_, "no_such", true),
            NRT_INVALID);
  EXPECT_EQ(nrt_sys_trace_config_set_capture_enabled_for_event_type(trace_config_, nullptr, true),
            NRT_INVALID);
}

TEST_F(Trace, ListsTheTypes) {
  const char** types = nullptr;
  size_t count = 0;
  ASSERT_EQ(nrt_sys_trace_get_event_types(&types, &count), NRT_SUCCESS);
  EXPECT_THAT(names_of(types, count),
              IsSupersetOf({"nc_exec_running", "nrt_execute", "nrt_load", "nrta_execute_schedule",
                            "nrt_tensor_write", "timestamp_sync_point"}));
  for (const std::string& type : names_of(types, count))
    nrt_sys_trace_config_set_capture_enabled_for_event_type(trace_config_, type.c_str(),
                                                            type == "nrt_load");
  nrt_sys_trace_free_event_types(types, count);
  ASSERT_EQ(nrt_sys_trace_config_get_enabled_event_types(trace_config_, &types, &count),
            NRT_SUCCESS);
  EXPECT_THAT(names_of(types, count), ElementsAre("nrt_load"));
  nrt_sys_trace_free_event_types(types, count);
  nrt_sys_trace_config_set_defaults(trace_config_);
  ASSERT_EQ(nrt_sys_trace_config_get_enabled_event_types(trace_config_, &types, &count),
            NRT_SUCCESS);
  EXPECT_GT(count, 1u);
  nrt_sys_trace_free_event_types(types, count);
}

TEST_F(Trace, TakesNull) {
  nrt_sys_trace_config_set_defaults(nullptr);
  nrt_sys_trace_config_set_max_events_per_nc(nullptr, 1);
  nrt_sys_trace_config_set_capture_enabled_for_nc(nullptr, 0, true);
  nrt_sys_trace_config_free(nullptr);
  nrt_sys_trace_buffer_free(nullptr);
  nrt_sys_trace_free_event_types(nullptr, 0);
  nrt_sys_trace_fetch_options_free(nullptr);
  nrt_sys_trace_fetch_options_set_defaults(nullptr);
  nrt_sys_trace_fetch_options_set_max_events_per_nc(nullptr, 1);
  size_t size = 0;
  EXPECT_EQ(nrt_sys_trace_config_allocate(nullptr), NRT_INVALID);
  EXPECT_EQ(nrt_sys_trace_fetch_options_allocate(nullptr), NRT_INVALID);
  EXPECT_EQ(nrt_sys_trace_fetch_events(nullptr, &size, nullptr), NRT_INVALID);
  EXPECT_EQ(nrt_sys_trace_get_event_types(nullptr, &size), NRT_INVALID);
}

TEST_F(Trace, CanBeFetchedAfterTheRuntimeIsClosed) {
  start();
  ASSERT_EQ(execute(), NRT_SUCCESS);
  nrt_close();
  EXPECT_EQ(of_type(fetch(), "nrt_execute").size(), 2u);
}

TEST_F(Trace, RecordsSeveralThreadsWhileItIsFetched) {
  constexpr int kThreads = 4, kCalls = 200;
  start();
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread)
    threads.emplace_back([] {
      for (int i = 0; i < kCalls; ++i) const ScopedTensor tensor(16, i % 2);
    });
  std::map<uint64_t, int> ends;
  const auto count = [&] {
    const Json trace = fetch();
    for (const Json& event : trace.at("events")) ++ends[event.at("tracking_id")];
  };
  for (int i = 0; i < 10; ++i) count();
  for (std::thread& thread : threads) thread.join();
  count();
  EXPECT_EQ(ends.size(), size_t{2} * kThreads * kCalls);
  for (const auto& [id, seen] : ends) ASSERT_EQ(seen, 2) << id;
}

}  // namespace
}  // namespace millrace::test
