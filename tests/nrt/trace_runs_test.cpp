// Traces show the requests themselves: when a unit ran them, and how long they waited.
#include <gmock/gmock.h>

#include <array>
#include <map>

#include "nrt/nrt_experimental.h"
#include "tests/nrt/trace_fixture.h"

namespace millrace::test {
namespace {

class TraceRuns : public TraceTest {
 protected:
  // Two on each queue, all of them scheduled before the first one runs.
  void write_on_two_queues() {
    transfers().hold();
    for (size_t i = 0; i < ids_.size(); ++i)
      ASSERT_EQ(schedule_write(nullptr, &ids_[i], static_cast<int>(i % 2)), NRT_SUCCESS);
    transfers().await_holds(2);
    transfers().release();
    for (const nrta_seq_t id : ids_) await(id);
  }
  // The slices of the rows that the trace has for units, by the names of the rows.
  static std::multimap<std::string, Json> slices_of_units(const Json& trace) {
    std::map<int64_t, std::string> rows;
    for (const Json& event : trace.at("traceEvents"))
      if (event.at("name") == "thread_name") rows[event.at("tid")] = event.at("args").at("name");
    std::multimap<std::string, Json> slices;
    for (const Json& slice : slices_of(trace))
      if (const std::string& row = rows.at(slice.at("tid"));
          row.find(" of core ") != std::string::npos)
        slices.emplace(row, slice);
    return slices;
  }

  std::array<nrta_seq_t, 4> ids_{};
  const std::string file_ = directory_.file("trace.json");
};

TEST_F(TraceRuns, HaveBytesUnitAndId) {
  start();
  write_on_two_queues();
  const std::vector<Json> events = of_type(fetch(), "tensor_write_running");
  ASSERT_EQ(events.size(), 8u);
  std::map<std::string, std::string> units;
  for (const Json& event : events) {
    EXPECT_EQ(event.at("nc_idx"), 0);
    EXPECT_EQ(event.at("data").at("bytes"), kTinyInputBytes);
    units[event.at("data").at("sequence_id")] = event.at("data").at("unit");
  }
  for (size_t i = 0; i < ids_.size(); ++i)
    EXPECT_EQ(units[hex(ids_[i])],
              i % 2 == 0 ? "TENSOR_OP queue 0 of core 0" : "TENSOR_OP queue 1 of core 0");
}

TEST_F(TraceRuns, TellHowLongARequestWaited) {
  start();
  write_on_two_queues();
  std::map<std::string, int64_t> begin, end, queued;
  for (const Json& event : of_type(fetch(), "tensor_write_running")) {
    const std::string id = event.at("data").at("sequence_id");
    (event.at("phase") == "start" ? begin : end)[id] = event.at("timestamp_ns");
    queued[id] = event.at("data").at("queued_ns");
  }
  const std::string first = hex(ids_[0]), second = hex(ids_[2]);
  EXPECT_GE(queued[first], 0);
  EXPECT_GE(begin[second], end[first]);
  // It was scheduled before the one in front of it ended.
  EXPECT_LT(begin[second] - queued[second], end[first]);
}

TEST_F(TraceRuns, TellTheKindsOfTransfersApart) {
  nrta_seq_t sequence = 0;
  start();
  ASSERT_EQ(schedule_write(nullptr, &sequence), NRT_SUCCESS);
  ASSERT_EQ(nrta_tensor_read(host_.data(), input_.get(), 0, 16, 0, 0, nullptr, &sequence),
            NRT_SUCCESS);
  ASSERT_EQ(nrta_tensor_copy(input_.get(), 0, spare_.get(), 0, 8, 0, 0, nullptr, &sequence),
            NRT_SUCCESS);
  await(sequence);
  const Json trace = fetch();
  EXPECT_EQ(of_type(trace, "tensor_write_running").size(), 2u);
  EXPECT_EQ(of_type(trace, "tensor_read_running").at(1).at("data").at("bytes"), 16);
  EXPECT_EQ(of_type(trace, "tensor_copy_running").at(1).at("data").at("bytes"), 8);
}

TEST_F(TraceRuns, TellHowATransferFailed) {
  start();
  transfers().fail_nth(1);
  nrta_seq_t sequence = 0;
  ASSERT_EQ(schedule_write(nullptr, &sequence), NRT_SUCCESS);
  await(sequence);
  EXPECT_EQ(of_type(fetch(), "tensor_write_running").at(1).at("data").at("status"), "NRT_HW_ERROR");
}

TEST_F(TraceRuns, ShowCollectives) {
  uint32_t group[1] = {0};
  nrt_cc_comm_t comm{group, 0, 1, 0, 1, 0};
  nrt_tensor_t *in = input_.get(), *out = spare_.get();
  nrt_tensor_list_t inputs{&in, 1}, outputs{&out, 1};
  nrt_cc_context_t* context = nullptr;
  ASSERT_EQ(nrta_cc_prepare(&comm, &inputs, &outputs, NRT_DTYPE_FLOAT32, NRT_OP_ADD,
                            NRT_CC_ALLREDUCE, &context),
            NRT_SUCCESS);
  start();
  nrta_seq_t sequence = 0;
  ASSERT_EQ(nrta_cc_schedule(&context, 0, nullptr, &sequence), NRT_SUCCESS);
  await(sequence);
  const std::vector<Json> events = of_type(fetch(), "cc_running");
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[1].at("data").at("bytes"), kTinyInputBytes);
  EXPECT_EQ(events[1].at("data").at("unit"), "COLLECTIVES queue 0 of core 0");
}

TEST_F(TraceRuns, HaveARowForEachUnit) {
  ASSERT_EQ(nrt_trace_start(false), NRT_SUCCESS);
  write_on_two_queues();
  const nrta_seq_t execution = schedule_and_wait();
  ASSERT_EQ(nrt_trace_stop(file_.c_str()), NRT_SUCCESS);
  const auto slices = slices_of_units(parse_file(file_));
  EXPECT_EQ(slices.count("TENSOR_OP queue 0 of core 0"), 2u);
  EXPECT_EQ(slices.count("TENSOR_OP queue 1 of core 0"), 2u);
  ASSERT_EQ(slices.count("COMPUTE of core 0"), 1u);
  const Json& computed = slices.find("COMPUTE of core 0")->second.at("args");
  EXPECT_EQ(computed.at("sequence_id"), hex(execution));
  EXPECT_GE(computed.at("queued_us"), 0);
  EXPECT_EQ(slices.find("TENSOR_OP queue 1 of core 0")->second.at("args").at("bytes"),
            kTinyInputBytes);
}

TEST_F(TraceRuns, LeaveOutTheWaitOfARequestFromBefore) {
  transfers().hold();
  nrta_seq_t sequence = 0;
  ASSERT_EQ(schedule_write(nullptr, &sequence), NRT_SUCCESS);
  ASSERT_EQ(schedule_write(nullptr, &sequence), NRT_SUCCESS);
  transfers().await_holds(1);
  start();
  transfers().release();
  await(sequence);
  const std::vector<Json> events = of_type(fetch(), "tensor_write_running");
  ASSERT_EQ(events.size(), 2u) << "the one that had not begun";
  EXPECT_FALSE(events[0].at("data").contains("queued_ns"));
}

}  // namespace
}  // namespace millrace::test
