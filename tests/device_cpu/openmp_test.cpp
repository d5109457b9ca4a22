// Parallel regions on threads of the device: how many threads they have, and what becomes of those
// whose threads want to wait for each other.
#include "device/cpu/dnnl/openmp/openmp.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <oneapi/dnnl/dnnl.hpp>
#include <vector>

#include "device/cpu/dnnl/calls.h"
#include "device/cpu/dnnl/invalid_flag.h"
#include "device/cpu/dnnl/openmp/calls.h"
#include "device/cpu/dnnl/primitives.h"

namespace millrace::device::cpu {
namespace {

// How many threads a region of the calling thread has.
int count_threads(unsigned wanted) {
  int count = 0;
  openmp::parallel([](void* data) { ++*static_cast<int*>(data); }, &count, wanted, 0);
  return count;
}

void run_region_that_waits() {
  openmp::parallel([](void*) { openmp::barrier(); }, nullptr, 0, 0);
}

class OpenMpRegion : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!divides_primitives()) GTEST_SKIP() << "the tables of libdnnl cannot be written to";
  }
};

TEST_F(OpenMpRegion, HasAsManyThreadsAsTheScopeSays) {
  OpenMpThreads threads;
  EXPECT_EQ(count_threads(0), 1);
  threads.set(4);
  EXPECT_EQ(count_threads(0), 4);
  EXPECT_EQ(count_threads(3), 3);
}

TEST_F(OpenMpRegion, HasOneThreadInAnotherRegion) {
  OpenMpThreads threads;
  threads.set(4);
  int count = 0;
  openmp::parallel([](void* data) { *static_cast<int*>(data) += count_threads(4); }, &count, 0, 0);
  EXPECT_EQ(count, 4);
}

TEST_F(OpenMpRegion, WhoseThreadsWantToWaitIsToldOfOnce) {
  OpenMpThreads threads;
  threads.set(4);
  run_region_that_waits();
  EXPECT_TRUE(take_refused_barrier());
  EXPECT_FALSE(take_refused_barrier());
}

TEST_F(OpenMpRegion, OfOneThreadWaitsForNobody) {
  const OpenMpThreads threads;
  run_region_that_waits();
  openmp::barrier();
  EXPECT_FALSE(take_refused_barrier());
}

// Each thread starts with the flag cleared, and any of them may be the one that raises it.
TEST_F(OpenMpRegion, RaisesTheInvalidFlagOnTheThreadThatBeganIt) {
  OpenMpThreads threads;
  threads.set(4);
  clear_invalid_flag();
  openmp::parallel([](void*) {}, nullptr, 0, 0);
  EXPECT_FALSE(invalid_flag());
  openmp::parallel(
      [](void*) {
        if (openmp::thread_number() == 1) raise_invalid_flag();
      },
      nullptr, 0, 0);
  EXPECT_TRUE(invalid_flag());
  // It stays raised, since the caller has not looked at it yet.
  openmp::parallel([](void*) {}, nullptr, 0, 0);
  EXPECT_TRUE(invalid_flag());
  clear_invalid_flag();
}

// The step fails, and only that one.
TEST_F(OpenMpRegion, WhoseThreadsWantToWaitFailsThePrimitive) {
  OpenMpThreads threads;
  const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  const dnnl::stream stream(engine);
  const dnnl::memory::desc desc({16}, dnnl::memory::data_type::f32, dnnl::memory::format_tag::a);
  const dnnl::eltwise_forward relu(
      find_eltwise(engine, {}, {dnnl::algorithm::eltwise_relu, 0, 0}, desc));
  const dnnl::memory x(desc, engine);
  const std::vector<dnnl_exec_arg_t> arguments = {{DNNL_ARG_SRC, x.get()}, {DNNL_ARG_DST, x.get()}};
  threads.set(4);
  run_region_that_waits();
  EXPECT_THAT(execute(relu, stream, arguments).message(),
              ::testing::HasSubstr("wait for each other"));
  EXPECT_TRUE(execute(relu, stream, arguments).ok());
}

}  // namespace
}  // namespace millrace::device::cpu
