// Memory banks as a runner shows them: cma_index, memory_bank, properties.
#include <gmock/gmock.h>

#include <optional>
#include <stdexcept>

#include "memory/bank_use.h"
#include "tests/support/unique_name.h"
#include "tests/vart/runner_fixture.h"

namespace millrace::vartml {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

class MemoryBanks : public RunnerTest {
 protected:
  ~MemoryBanks() override { unsetenv("MILLRACE_MEMORY_BANKS"); }

  // Each test has banks of its own: a list of other text is another list.
  static void use_banks(const std::string& text) {
    setenv("MILLRACE_MEMORY_BANKS", text.c_str(), 1);
  }
  std::string creation_error(const Options& options) {
    try {
      make_runner(options);
    } catch (const std::exception& error) {
      return error.what();
    }
    return "created";
  }
  // A tensor of so many bytes.
  static NpuTensor allocate(const Runner& runner, size_t bytes,
                            std::optional<uint32_t> bank = std::nullopt) {
    NpuTensorInfo info = runner.get_tensors_info(TensorDirection::INPUT, TensorType::HW)[0];
    info.size_in_bytes = bytes;
    return bank ? runner.allocate_npu_tensor(info, *bank) : runner.allocate_npu_tensor(info);
  }
  static std::string refusal(const Runner& runner, size_t bytes,
                             std::optional<uint32_t> bank = std::nullopt) {
    try {
      allocate(runner, bytes, bank);
    } catch (const std::runtime_error& error) {
      return error.what();
    }
    return "allocated";
  }
  static std::vector<size_t> free_bytes(const Runner& runner) {
    return std::any_cast<std::vector<size_t>>(runner.get_property("ddr_free_bytes"));
  }
};

TEST_F(MemoryBanks, CmaIndexChoosesTheBank) {
  use_banks("first=1000,second=2000");
  const std::shared_ptr<Runner> runner = make_runner({{"cma_index", int32_t{1}}});
  const NpuTensor tensor = allocate(*runner, 300);
  EXPECT_THAT(free_bytes(*runner), ElementsAre(1000, 1700));
  const NpuTensor elsewhere = allocate(*runner, 400, 0);
  EXPECT_THAT(free_bytes(*runner), ElementsAre(600, 1700));
  EXPECT_EQ(std::any_cast<uint8_t>(runner->get_property("nb_ddrs")), 2);
  const std::shared_ptr<Runner> other = make_runner();
  EXPECT_THAT(free_bytes(*other), ElementsAre(600, 1700)) << "runners share the banks";
}

TEST_F(MemoryBanks, AFullBankThrowsSayingWhatIsThere) {
  use_banks("tight=1000,roomy=1M");
  const std::shared_ptr<Runner> runner = make_runner();
  const NpuTensor tensor = allocate(*runner, 700);
  EXPECT_THAT(refusal(*runner, 301),
              AllOf(HasSubstr("\"tight\""), HasSubstr("1000"), HasSubstr("700"), HasSubstr("301")));
  EXPECT_EQ(refusal(*runner, 300), "allocated");
  EXPECT_EQ(refusal(*runner, 301, 1), "allocated");
}

TEST_F(MemoryBanks, WithoutALimitWhatIsFreeFallsAndRisesWithAllocationsAlone) {
  use_banks("endless=unlimited,other=unlimited");
  std::shared_ptr<Runner> runner = make_runner();
  const std::vector<size_t> before = free_bytes(*runner);
  EXPECT_GT(before[0], 0u);
  {
    const NpuTensor tensor = allocate(*runner, 5000);
    EXPECT_THAT(free_bytes(*runner), ElementsAre(before[0] - 5000, before[1]));
  }
  EXPECT_EQ(free_bytes(*runner), before);
  runner.reset();
  EXPECT_EQ(free_bytes(*make_runner()), before) << "as programs check that change their runners";
}

TEST_F(MemoryBanks, MemoryIsFreeAgainWithItsLastUserAndNotBefore) {
  use_banks("counted=1000");
  std::shared_ptr<Runner> runner = make_runner();
  NpuTensor copy, sub;
  {
    const NpuTensor tensor = allocate(*runner, 600);
    copy = tensor;
    NpuTensorInfo half = tensor.get_info();
    half.size_in_bytes = 300;
    sub = runner->allocate_sub_tensor(tensor, half, 300);
  }
  runner = make_runner();
  copy = NpuTensor();
  EXPECT_THAT(free_bytes(*runner), ElementsAre(400)) << "the sub-tensor has the memory";
  sub = NpuTensor();
  EXPECT_THAT(free_bytes(*runner), ElementsAre(1000));
}

TEST_F(MemoryBanks, ABankThatIsNotThereIsRefused) {
  const std::shared_ptr<Runner> runner = make_runner();
  EXPECT_THAT(refusal(*runner, 100, 4), AllOf(HasSubstr("4"), HasSubstr("0 to 3")));
  EXPECT_THAT(creation_error({{"cma_index", 4}}),
              AllOf(HasSubstr("cma_index"), HasSubstr("4"), HasSubstr("0 to 3")));
  use_banks("only=1G");
  EXPECT_THAT(creation_error({{"cma_index", 1u}}), HasSubstr("0 to 0"));
  EXPECT_EQ(creation_error({{"cma_index", 0}}), "created");
}

TEST_F(MemoryBanks, BanksThatMakeNoSenseAreRefusedAtCreation) {
  use_banks("DDR0=2G,DDR1=lots");
  EXPECT_THAT(creation_error({}), AllOf(HasSubstr("MILLRACE_MEMORY_BANKS"), HasSubstr("lots")));
}

TEST_F(MemoryBanks, OtherProcessesSeeTheMemoryUnderTheBanksName) {
  const std::string name = test::unique_name("seen");
  use_banks(name + "=1M");
  const std::shared_ptr<Runner> runner = make_runner();
  const NpuTensor tensor = allocate(*runner, 5000);
  EXPECT_EQ(memory::bank_use_of_all_processes()[name], 8192u);
}

}  // namespace
}  // namespace millrace::vartml
