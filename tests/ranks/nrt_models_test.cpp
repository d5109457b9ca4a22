// Models with collectives at the NRT face: a process for each rank.
#include <gmock/gmock.h>
#include <signal.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <thread>
#include <vector>

#include "graph/archive/codec.h"
#include "model/archive_writer.h"
#include "nrt/nrt.h"
#include "nrt/nrt_async.h"
#include "tests/device_cpu/model_builder.h"
#include "tests/ranks/processes.h"
#include "tests/support/temporary_directory.h"

namespace millrace::ranks {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::Eq;
using testing::HasSubstr;
using Archive = std::vector<std::byte>;

// Returns a model of the sum over all ranks of `factor` times the input, which has `numbers`
// elements.
Archive scaled_sum(float factor, int64_t numbers = 2) {
  device::cpu::ModelBuilder builder;
  builder.begin_partition(graph::PartitionKind::kNpu);
  const auto scaled = builder.node(graph::Unary{{graph::UnaryKind::kLinear, factor, 0}},
                                   {builder.input({1, numbers})});
  builder.begin_partition(graph::PartitionKind::kCollective);
  builder.output(builder.fallback({"com.microsoft.AllReduce", {}}, {scaled})[0]);
  return model::archive_bytes(graph::encode(*builder.build()));
}

// A loaded model with its tensors.
class LoadedModel {
 public:
  LoadedModel(const Archive& archive, uint32_t rank, uint32_t ranks, int core = 0) {
    EXPECT_EQ(nrt_load_collectives(archive.data(), archive.size(), core, 1, rank, ranks, &model_),
              NRT_SUCCESS);
    nrt_allocate_tensor_set(&inputs_);
    nrt_allocate_tensor_set(&outputs_);
    nrt_tensor_info_array_t* info = nullptr;
    EXPECT_EQ(nrt_get_model_tensor_info(model_, &info), NRT_SUCCESS);
    for (uint64_t i = 0; i < info->tensor_count; ++i) {
      const nrt_tensor_info_t& about = info->tensor_array[i];
      const bool is_input = about.usage == NRT_TENSOR_USAGE_INPUT;
      nrt_tensor_t*& tensor = is_input ? input_ : output_;
      EXPECT_EQ(
          nrt_tensor_allocate(NRT_TENSOR_PLACEMENT_DEVICE, core, about.size, nullptr, &tensor),
          NRT_SUCCESS);
      EXPECT_EQ(nrt_add_tensor_to_tensor_set(is_input ? inputs_ : outputs_, about.name, tensor),
                NRT_SUCCESS);
    }
    nrt_free_model_tensor_info(info);
  }

  NRT_STATUS run(float number) {
    const std::vector<float> numbers(nrt_tensor_get_size(input_) / sizeof(float), number);
    EXPECT_EQ(nrt_tensor_write(input_, numbers.data(), 0, nrt_tensor_get_size(input_)),
              NRT_SUCCESS);
    return nrt_execute(model_, inputs_, outputs_);
  }
  float result() const {
    float number = 0;
    EXPECT_EQ(nrt_tensor_read(output_, &number, 0, sizeof number), NRT_SUCCESS);
    return number;
  }

 private:
  nrt_model_t* model_ = nullptr;
  nrt_tensor_set_t *inputs_ = nullptr, *outputs_ = nullptr;
  nrt_tensor_t *input_ = nullptr, *output_ = nullptr;
};

// Runs body(rank) between nrt_init and nrt_close in a process for each rank, which computes.
std::vector<int> run_computing_ranks(uint32_t ranks, const std::function<void(uint32_t)>& body) {
  const MeetingPlace place;
  return run_processes(ranks, [&](uint32_t rank) {
    setenv("NEURON_RT_ROOT_COMM_ID", place.text().c_str(), 1);
    setenv("MILLRACE_DEVICE", "cpu", 1);
    ASSERT_EQ(nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, "", ""), NRT_SUCCESS);
    body(rank);
    nrt_close();
  });
}

// Writes what the process logs from here on to a file of its own.
class LogFile {
 public:
  LogFile(const test::TemporaryDirectory& directory, uint32_t rank)
      : path_(directory.file("log" + std::to_string(rank))) {
    setenv("NEURON_RT_LOG_LOCATION_NRT", path_.c_str(), 1);
    setenv("NEURON_RT_LOG_LEVEL", "INFO", 1);
    nrt_close();
    EXPECT_EQ(nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, "", ""), NRT_SUCCESS);
  }
  std::string text() const {
    std::ostringstream text;
    text << std::ifstream(path_).rdbuf();
    return text.str();
  }

 private:
  const std::string path_;
};

TEST(NrtRankModels, ARankThatIsKilledFailsTheJobsOfTheOthersByName) {
  const Archive archive = scaled_sum(1);
  const test::TemporaryDirectory directory;
  EXPECT_THAT(run_computing_ranks(3,
                                  [&](uint32_t rank) {
                                    const LogFile log(directory, rank);
                                    LoadedModel model(archive, rank, 3);
                                    EXPECT_EQ(model.run(1), NRT_SUCCESS);
                                    EXPECT_EQ(model.result(), 3);
                                    if (rank == 2) raise(SIGKILL);
                                    EXPECT_EQ(model.run(1), NRT_EXEC_HW_ERR_COLLECTIVES);
                                    for (int again = 0; again < 2; ++again) {
                                      EXPECT_EQ(model.run(1), NRT_EXEC_UNIT_UNRECOVERABLE);
                                    }
                                    EXPECT_THAT(log.text(), HasSubstr("all_reduce 2"));
                                    EXPECT_THAT(log.text(), HasSubstr("rank 2"));
                                  }),
              ElementsAre(0, 0, -SIGKILL));
}

TEST(NrtRankModels, RanksThatCallDifferentCollectivesAreToldSo) {
  const test::TemporaryDirectory directory;
  EXPECT_THAT(run_computing_ranks(2,
                                  [&](uint32_t rank) {
                                    const LogFile log(directory, rank);
                                    LoadedModel model(scaled_sum(1, 2 + rank), rank, 2);
                                    EXPECT_EQ(model.run(1), NRT_INVALID);
                                    EXPECT_THAT(log.text(),
                                                HasSubstr("the ranks call different operations"));
                                    EXPECT_EQ(model.run(1), NRT_EXEC_UNIT_UNRECOVERABLE);
                                  }),
              Each(Eq(0)));
}

// Three ranks are in one process with one lane: a job that waits for the others must not keep them
// from running.
TEST(NrtRankModels, RanksInOneProcessNeedNoMoreLanesThanThereAre) {
  const MeetingPlace place;
  EXPECT_THAT(run_processes(1,
                            [&](uint32_t) {
                              setenv("NEURON_RT_ROOT_COMM_ID", place.text().c_str(), 1);
                              setenv("MILLRACE_DEVICE", "cpu", 1);
                              setenv("MILLRACE_LANES", "1", 1);
                              setenv("MILLRACE_NRT_CORES", "3", 1);
                              setenv("MILLRACE_NRT_COLLECTIVE_TIMEOUT", "20s", 1);
                              ASSERT_EQ(nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, "", ""), NRT_SUCCESS);
                              const Archive archive = scaled_sum(1);
                              std::vector<std::thread> ranks;
                              for (uint32_t rank = 0; rank < 3; ++rank)
                                ranks.emplace_back([&, rank] {
                                  LoadedModel model(archive, rank, 3, static_cast<int>(rank));
                                  for (int job = 0; job < 20; ++job) {
                                    ASSERT_EQ(model.run(2), NRT_SUCCESS);
                                    EXPECT_EQ(model.result(), 6);
                                  }
                                });
                              for (std::thread& rank : ranks) rank.join();
                              nrt_close();
                            }),
              Each(Eq(0)));
}

TEST(NrtRankModels, FaultsReachTheCollectivesInsideAModel) {
  setenv("MILLRACE_COLLECTIVE_FAULTS", "delay=1,delay_for=50ms,corrupt=2,drop=3,rank=1", 1);
  const Archive archive = scaled_sum(1);
  EXPECT_THAT(run_computing_ranks(2,
                                  [&](uint32_t rank) {
                                    LoadedModel model(archive, rank, 2);
                                    const auto began = std::chrono::steady_clock::now();
                                    EXPECT_EQ(model.run(1), NRT_SUCCESS);
                                    if (rank == 1) {
                                      EXPECT_GE(std::chrono::steady_clock::now() - began,
                                                std::chrono::milliseconds(50));
                                    }
                                    EXPECT_EQ(model.run(1), NRT_SUCCESS);
                                    EXPECT_EQ(model.result() == 2, rank == 0);
                                    EXPECT_EQ(model.run(1), NRT_EXEC_HW_ERR_COLLECTIVES);
                                  }),
              Each(Eq(0)));
  unsetenv("MILLRACE_COLLECTIVE_FAULTS");
}

// If a model that failed to load were counted, the next model of this rank would wait for the wrong
// model of the other rank.
TEST(NrtRankModels, AModelThatWasNotLoadedIsNotCounted) {
  const Archive first = scaled_sum(1), second = scaled_sum(10);
  EXPECT_THAT(run_computing_ranks(2,
                                  [&](uint32_t rank) {
                                    if (rank == 0) {
                                      Archive damaged = first;
                                      damaged.resize(damaged.size() / 2);
                                      nrt_model_t* none = nullptr;
                                      EXPECT_NE(nrt_load_collectives(damaged.data(), damaged.size(),
                                                                     0, 1, 0, 2, &none),
                                                NRT_SUCCESS);
                                    }
                                    LoadedModel one(first, rank, 2), ten(second, rank, 2);
                                    EXPECT_EQ(one.run(1), NRT_SUCCESS);
                                    EXPECT_EQ(one.result(), 2);
                                    EXPECT_EQ(ten.run(1), NRT_SUCCESS);
                                    EXPECT_EQ(ten.result(), 20);
                                  }),
              Each(Eq(0)));
}

}  // namespace
}  // namespace millrace::ranks
