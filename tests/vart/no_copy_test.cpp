// A job on HW views copies nothing large: a program of its own, because it replaces memcpy.
#include <gtest/gtest.h>

#include <cstring>

#include "graph/archive/codec.h"
#include "lowering/assemble.h"
#include "tests/lowering/passes/graph_maker.h"
#include "tests/vart/copy_counter.h"
#include "tests/vart/runner_fixture.h"

namespace millrace::vartml {
namespace {

class NoCopy : public RunnerTest {
 protected:
  NoCopy() {
    use_device("cpu");
    lowering::GraphMaker maker;
    maker.output(maker.conv(maker.input({1, 3, 48, 48}), 16, 3));
    const auto model = lowering::assemble(
        maker.graph, {.precision = graph::Precision::kBf16, .cpu_operators = {}}, "conv");
    EXPECT_TRUE(model.ok()) << model.status().to_string();
    const std::string path = directory_.file("conv.rai");
    EXPECT_TRUE(model::write_archive(graph::encode(*model), path, model::ArchiveForm::kFile).ok());
    runner_ = RunnerFactory::create_runner(RunnerType::VAIML, path);
  }

  // Large copies of a call after the first, which makes what is kept.
  template <class Call>
  static uint64_t copies_of(Call&& call) {
    call();
    const uint64_t before = test::large_copies();
    call();
    return test::large_copies() - before;
  }

  std::shared_ptr<Runner> runner_;
};

TEST_F(NoCopy, TheCounterSeesWhatItIsToSee) {
  std::vector<char> from(test::kLargeCopy), to(test::kLargeCopy);
  const uint64_t before = test::large_copies();
  void* (*volatile copy)(void*, const void*, size_t) = std::memcpy;
  copy(to.data(), from.data(), to.size());
  copy(to.data(), from.data(), to.size() - 1);
  EXPECT_EQ(test::large_copies() - before, 1u);
  // In a library, too: the standard library's assign() is not inlined.
  const std::string large(test::kLargeCopy, 'x');
  std::string assigned;
  assigned.reserve(large.size());
  assigned.assign(large);
  EXPECT_EQ(test::large_copies() - before, 2u);
}

TEST_F(NoCopy, HwViewsOfBothWays) {
  const Tensors in = inputs(*runner_);
  Tensors out = outputs(*runner_);
  ASSERT_GE(in[0][0].get_info().size_in_bytes, test::kLargeCopy);
  ASSERT_GE(out[0][0].get_info().size_in_bytes, test::kLargeCopy);
  EXPECT_EQ(copies_of([&] { EXPECT_EQ(runner_->execute(in, out), StatusCode::SUCCESS); }), 0u);
  EXPECT_EQ(copies_of([&] {
              EXPECT_EQ(runner_->wait(runner_->execute_async(in, out), kForever),
                        StatusCode::SUCCESS);
            }),
            0u);
}

}  // namespace
}  // namespace millrace::vartml
