// Several ranks at the NRT face: a process each, as programs start them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "nrt/nrt.h"
#include "nrt/nrt_async.h"
#include "nrt/nrt_experimental.h"
#include "ranks/rendezvous/socket.h"
#include "tests/ranks/processes.h"
#include "tests/support/subprocess.h"
#include "tests/support/temporary_directory.h"

namespace millrace::ranks {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::Eq;

// Runs body(rank) between nrt_init and nrt_close in a process for each rank.
std::vector<int> run_nrt_ranks(uint32_t ranks, const std::function<void(uint32_t)>& body) {
  const MeetingPlace place;
  return run_processes(ranks, [&](uint32_t rank) {
    setenv("NEURON_RT_ROOT_COMM_ID", place.text().c_str(), 1);
    setenv("MILLRACE_DEVICE", "null", 1);
    ASSERT_EQ(nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, "", ""), NRT_SUCCESS);
    body(rank);
    nrt_close();
  });
}

nrt_tensor_t* make_tensor(const std::vector<float>& values) {
  nrt_tensor_t* tensor = nullptr;
  EXPECT_EQ(nrt_tensor_allocate(NRT_TENSOR_PLACEMENT_DEVICE, 0, values.size() * sizeof(float),
                                nullptr, &tensor),
            NRT_SUCCESS);
  EXPECT_EQ(nrt_tensor_write(tensor, values.data(), 0, values.size() * sizeof(float)), NRT_SUCCESS);
  return tensor;
}

std::vector<float> values_of(nrt_tensor_t* tensor) {
  std::vector<float> values(nrt_tensor_get_size(tensor) / sizeof(float));
  EXPECT_EQ(nrt_tensor_read(tensor, values.data(), 0, values.size() * sizeof(float)), NRT_SUCCESS);
  return values;
}

// Prepares a collective of FLOAT32.
NRT_STATUS prepare(nrt_cc_comm_t comm, std::vector<nrt_tensor_t*> inputs,
                   std::vector<nrt_tensor_t*> outputs, nrt_cc_op_type_t kind,
                   nrt_cc_context_t** context, nrt_op_type_t reduction = NRT_OP_ADD) {
  nrt_tensor_list_t from{inputs.data(), inputs.size()}, to{outputs.data(), outputs.size()};
  return nrta_cc_prepare(&comm, &from, &to, NRT_DTYPE_FLOAT32, reduction, kind, context);
}

// Schedules a collective, and returns its status when it has completed.
NRT_STATUS run(nrt_cc_context_t** context, int queue) {
  NRT_STATUS status = NRT_FAILURE;
  nrta_seq_t sequence = 0;
  const NRT_STATUS scheduled = nrta_cc_schedule(context, queue, &status, &sequence);
  if (scheduled != NRT_SUCCESS) return scheduled;
  for (bool done = false; !done;) {
    EXPECT_EQ(nrta_is_completed(sequence, &done), NRT_SUCCESS);
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
  return status;
}

// Prepares and schedules a collective, and returns its status when it has completed.
NRT_STATUS run(nrt_cc_comm_t comm, std::vector<nrt_tensor_t*> inputs,
               std::vector<nrt_tensor_t*> outputs, nrt_cc_op_type_t kind, int queue = 0) {
  nrt_cc_context_t* context = nullptr;
  const NRT_STATUS prepared = prepare(comm, std::move(inputs), std::move(outputs), kind, &context);
  return prepared == NRT_SUCCESS ? run(&context, queue) : prepared;
}

nrt_cc_comm_t all_of(uint32_t rank, uint32_t ranks) {
  return {nullptr, rank, ranks, rank, ranks, 0};
}

TEST(NrtRanks, ReduceGatherAndScatter) {
  EXPECT_THAT(run_nrt_ranks(3,
                            [](uint32_t rank) {
                              const auto own = static_cast<float>(rank);
                              const nrt_cc_comm_t comm = all_of(rank, 3);
                              EXPECT_EQ(nrt_cc_global_comm_init(0, rank, 3), NRT_SUCCESS);
                              nrt_tensor_t* const data = make_tensor({own, 10 * own});
                              EXPECT_EQ(run(comm, {data}, {data}, NRT_CC_ALLREDUCE), NRT_SUCCESS);
                              EXPECT_THAT(values_of(data), ElementsAre(3, 30));

                              nrt_tensor_t* const one = make_tensor({own});
                              nrt_tensor_t* const all = make_tensor({0, 0, 0});
                              EXPECT_EQ(run(comm, {one}, {all}, NRT_CC_ALLGATHER, 1), NRT_SUCCESS);
                              EXPECT_THAT(values_of(all), ElementsAre(0, 1, 2));
                              EXPECT_EQ(run(comm, {all}, {one}, NRT_CC_REDUCESCATTER, 2),
                                        NRT_SUCCESS);
                              EXPECT_THAT(values_of(one), ElementsAre(3 * own));
                            }),
              Each(Eq(0)));
}

TEST(NrtRanks, GatherIntoAListAndScatterFromOne) {
  EXPECT_THAT(
      run_nrt_ranks(
          2,
          [](uint32_t rank) {
            const nrt_cc_comm_t comm = all_of(rank, 2);
            nrt_tensor_t* const one = make_tensor({rank + 1.0f});
            nrt_tensor_t* const first = make_tensor({0});
            nrt_tensor_t* const second = make_tensor({0});
            EXPECT_EQ(run(comm, {one}, {first, second}, NRT_CC_ALLGATHER), NRT_SUCCESS);
            EXPECT_THAT(values_of(first), ElementsAre(1));
            EXPECT_THAT(values_of(second), ElementsAre(2));
            EXPECT_EQ(run(comm, {first, second}, {one}, NRT_CC_REDUCESCATTER), NRT_SUCCESS);
            EXPECT_THAT(values_of(one), ElementsAre(rank == 0 ? 2 : 4));
            EXPECT_EQ(run(comm, {first, second}, {first, second}, NRT_CC_ALLREDUCE), NRT_SUCCESS);
            EXPECT_THAT(values_of(second), ElementsAre(4));
            EXPECT_EQ(run(comm, {one}, {first}, NRT_CC_ALLGATHER), NRT_INVALID);
          }),
      Each(Eq(0)));
}

TEST(NrtRanks, GroupsAreOfSomeRanks) {
  EXPECT_THAT(run_nrt_ranks(4,
                            [](uint32_t rank) {
                              std::array<uint32_t, 2> members{rank % 2, rank % 2 + 2};
                              nrt_tensor_t* const data = make_tensor({static_cast<float>(rank)});
                              const nrt_cc_comm_t pair{members.data(), rank / 2, 2, rank, 4, 0};
                              EXPECT_EQ(run(pair, {data}, {data}, NRT_CC_ALLREDUCE), NRT_SUCCESS);
                              EXPECT_THAT(values_of(data), ElementsAre(rank % 2 == 0 ? 2 : 4));
                              const nrt_cc_comm_t other{
                                  members.data(), 1 - rank / 2, 2, rank, 4, 0};
                              EXPECT_EQ(run(other, {data}, {data}, NRT_CC_ALLREDUCE), NRT_INVALID);
                              EXPECT_EQ(nrt_barrier(0, rank, 4), NRT_SUCCESS);
                            }),
              Each(Eq(0)));
}

// All ranks refuse what one refuses, so that none of them waits for a peer.
TEST(NrtRanks, OperationsAndQueuesAreCheckedAfterTheRanksHaveMet) {
  EXPECT_THAT(run_nrt_ranks(2,
                            [](uint32_t rank) {
                              const nrt_cc_comm_t comm = all_of(rank, 2);
                              nrt_tensor_t* const data = make_tensor({rank + 1.0f});
                              EXPECT_EQ(nrt_barrier(0, rank, 2), NRT_SUCCESS);
                              nrt_cc_context_t* context = nullptr;
                              EXPECT_EQ(prepare(comm, {data}, {data}, NRT_CC_ALLREDUCE, &context,
                                                NRT_OP_FMA),
                                        NRT_INVALID);
                              EXPECT_EQ(prepare(comm, {make_tensor({1, 2})}, {data},
                                                NRT_CC_REDUCESCATTER, &context, NRT_OP_FMA),
                                        NRT_INVALID);
                              EXPECT_EQ(context, nullptr);

                              ASSERT_EQ(prepare(comm, {data}, {data}, NRT_CC_ALLREDUCE, &context),
                                        NRT_SUCCESS);
                              nrt_cc_context_t* const kept = context;
                              for (const int queue : {3, -1}) {
                                EXPECT_EQ(run(&context, queue), NRT_INVALID);
                                EXPECT_EQ(context, kept);
                              }
                              EXPECT_EQ(run(&context, 2), NRT_SUCCESS);
                              EXPECT_EQ(context, nullptr);
                              EXPECT_THAT(values_of(data), ElementsAre(3));
                            }),
              Each(Eq(0)));
}

TEST(NrtRanks, HostMemoryIsGatheredAndALauncherNamesTheRank) {
  EXPECT_THAT(run_nrt_ranks(2,
                            [](uint32_t rank) {
                              setenv("RANK", std::to_string(rank).c_str(), 1);
                              setenv("WORLD_SIZE", "2", 1);
                              const std::array<char, 2> own{static_cast<char>('a' + rank), '!'};
                              std::array<char, 4> all{};
                              EXPECT_EQ(nrt_build_global_comm(0, 0, 0), NRT_SUCCESS);
                              EXPECT_EQ(nrt_all_gather(0, rank, 2, 2, const_cast<char*>(own.data()),
                                                       all.data()),
                                        NRT_SUCCESS);
                              EXPECT_EQ(std::string(all.data(), 4), "a!b!");
                              EXPECT_EQ(nrt_barrier(0, rank, 3), NRT_INVALID);
                            }),
              Each(Eq(0)));
}

TEST(NrtRanks, ADeadRankFailsTheRequestAndTheUnitUntilTheRuntimeStartsAnew) {
  EXPECT_THAT(
      run_nrt_ranks(
          3,
          [](uint32_t rank) {
            nrt_tensor_t* const data = make_tensor({1});
            const nrt_cc_comm_t comm = all_of(rank, 3);
            EXPECT_EQ(run(comm, {data}, {data}, NRT_CC_ALLREDUCE), NRT_SUCCESS);
            if (rank == 2) raise(SIGKILL);
            EXPECT_EQ(run(comm, {data}, {data}, NRT_CC_ALLREDUCE), NRT_EXEC_HW_ERR_COLLECTIVES);
            EXPECT_EQ(run(comm, {data}, {data}, NRT_CC_ALLREDUCE), NRT_EXEC_UNIT_UNRECOVERABLE);
            EXPECT_EQ(nrt_barrier(0, rank, 3), NRT_EXEC_HW_ERR_COLLECTIVES);
            // The other ranks continue without this one.
            nrt_close();
            ASSERT_EQ(nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, "", ""), NRT_SUCCESS);
            nrt_tensor_t* const again = make_tensor({1});
            EXPECT_EQ(run(all_of(rank, 2), {again}, {again}, NRT_CC_ALLREDUCE), NRT_SUCCESS);
            EXPECT_THAT(values_of(again), ElementsAre(2));
          }),
      ElementsAre(0, 0, -SIGKILL));
}

TEST(NrtRanks, ARankThatDoesNotComeIsATimeout) {
  EXPECT_THAT(run_nrt_ranks(1,
                            [](uint32_t) {
                              nrt_close();
                              setenv("MILLRACE_NRT_COLLECTIVE_TIMEOUT", "100ms", 1);
                              ASSERT_EQ(nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, "", ""), NRT_SUCCESS);
                              EXPECT_EQ(nrt_barrier(0, 0, 2), NRT_TIMEOUT);
                            }),
              Each(Eq(0)));
}

TEST(NrtRanks, ClosingEndsAMeetingAtOnce) {
  const MeetingPlace place;
  EXPECT_THAT(
      run_processes(1,
                    [&](uint32_t) {
                      setenv("NEURON_RT_ROOT_COMM_ID", place.text().c_str(), 1);
                      setenv("MILLRACE_DEVICE", "null", 1);
                      ASSERT_EQ(nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, "", ""), NRT_SUCCESS);
                      std::thread waiting([] { EXPECT_EQ(nrt_barrier(0, 0, 2), NRT_CLOSED); });
                      const Endpoint endpoint = *parse_endpoint(place.text());
                      while (!connect_to(endpoint, {}).ok())
                        std::this_thread::sleep_for(std::chrono::milliseconds(1));
                      nrt_close();
                      waiting.join();
                    }),
      Each(Eq(0)));
}

TEST(NrtRanks, FaultsMakeARankLateWrongAndLost) {
  setenv("MILLRACE_COLLECTIVE_FAULTS", "delay=1,delay_for=50ms,corrupt=2,drop=3,rank=1", 1);
  EXPECT_THAT(run_nrt_ranks(2,
                            [](uint32_t rank) {
                              const nrt_cc_comm_t comm = all_of(rank, 2);
                              nrt_tensor_t* const data = make_tensor({1});
                              const auto began = std::chrono::steady_clock::now();
                              EXPECT_EQ(run(comm, {data}, {data}, NRT_CC_ALLREDUCE), NRT_SUCCESS);
                              if (rank == 1) {
                                EXPECT_GE(std::chrono::steady_clock::now() - began,
                                          std::chrono::milliseconds(50));
                              }
                              EXPECT_THAT(values_of(data), ElementsAre(2));
                              EXPECT_EQ(run(comm, {data}, {data}, NRT_CC_ALLREDUCE), NRT_SUCCESS);
                              EXPECT_EQ(values_of(data)[0] == 4, rank == 0);
                              EXPECT_EQ(run(comm, {data}, {data}, NRT_CC_ALLREDUCE),
                                        NRT_EXEC_HW_ERR_COLLECTIVES);
                            }),
              Each(Eq(0)));
  setenv("MILLRACE_COLLECTIVE_FAULTS", "lose=3", 1);
  EXPECT_THAT(run_processes(1,
                            [](uint32_t) {
                              setenv("MILLRACE_DEVICE", "null", 1);
                              EXPECT_EQ(nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, "", ""), NRT_INVALID);
                            }),
              Each(Eq(0)));
  unsetenv("MILLRACE_COLLECTIVE_FAULTS");
}

TEST(NrtRanks, TheSampleSumsUpOverItsProcesses) {
  const test::ProgramResult result =
      test::run_program({MILLRACE_NRT_ALL_REDUCE, "--ranks", "3", "-n", "5", "-c", "5000"}, "/");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, testing::HasSubstr("3 ranks, 5000 numbers: 5 sums are right"));
  EXPECT_EQ(test::run_program({MILLRACE_NRT_ALL_REDUCE, "--help"}, "/").exit_code, 0);
  EXPECT_EQ(test::run_program({MILLRACE_NRT_ALL_REDUCE, "--ranks", "0"}, "/").exit_code, 2);
}

// A process that shares the sample's environment writes a trace for each rank; they are those of
// one run, which several ranks see.
TEST(NrtRanks, TracesHaveTheirCollectives) {
  const test::TemporaryDirectory directory;
  const test::ProgramResult result =
      test::run_program({"/usr/bin/env", "MILLRACE_TRACE=" + directory.file("%p.json"),
                         MILLRACE_NRT_ALL_REDUCE, "--ranks", "2", "-n", "5", "-c", "5000"},
                        "/");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  std::vector<std::string> ranks;
  for (const auto& entry : std::filesystem::directory_iterator(directory.path())) {
    const auto trace = nlohmann::json::parse(std::ifstream(entry.path()));
    size_t reductions = 0;
    for (const auto& event : trace["traceEvents"]) {
      if (event.value("name", "") != "all_reduce") continue;
      ++reductions;
      EXPECT_EQ(event["args"]["bytes"], 5000 * sizeof(float));
      EXPECT_EQ(event["args"]["status"], "OK");
      EXPECT_TRUE(event["args"].contains("job"));
    }
    if (reductions == 0) continue;
    EXPECT_GE(reductions, 5u);
    EXPECT_EQ(trace["otherData"]["ranks"].size(), 1u);
    ranks.push_back(trace["otherData"]["ranks"][0]);
  }
  EXPECT_THAT(ranks, testing::UnorderedElementsAre("0", "1"));
}

}  // namespace
}  // namespace millrace::ranks
