// Models with CPU partitions behind the VART-ML face, on the software NPU.
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "device/faulty/faulty_device.h"
#include "graph/archive/codec.h"
#include "lowering/assemble.h"
#include "tests/lowering/passes/graph_maker.h"
#include "tests/vart/runner_fixture.h"

namespace millrace::vartml {
namespace {

using graph::Precision;
using lowering::CpuOperators;
using ::testing::AllOf;
using ::testing::HasSubstr;

class CpuPartitions : public RunnerTest {
 protected:
  CpuPartitions() { use_device("cpu"); }

  // Exp -> MatMul -> Softmax: input0 [1, 12] to n2.out [1, 40], with these operators on the CPU.
  std::string archive(const CpuOperators& cpu_operators, Precision precision = Precision::kFp32,
                      model::ArchiveForm form = model::ArchiveForm::kFile) {
    lowering::GraphMaker maker;
    const auto x = maker.unary(graph::UnaryKind::kExp, maker.input({1, 12}));
    const auto product = maker.add(graph::MatMul{}, {x, maker.random({12, 40})});
    maker.output(maker.add(graph::Softmax{1, false}, {product}));
    return archive(maker.graph, cpu_operators, precision, form);
  }
  std::string archive(const graph::Graph& graph, const CpuOperators& cpu_operators,
                      Precision precision = Precision::kFp32,
                      model::ArchiveForm form = model::ArchiveForm::kFile) {
    const auto model = lowering::assemble(
        graph, {.precision = precision, .cpu_operators = cpu_operators}, "exp_softmax");
    EXPECT_TRUE(model.ok()) << model.status().to_string();
    const std::string path = directory_.file("model" + std::to_string(archives_++));
    EXPECT_TRUE(model::write_archive(graph::encode(*model), path, form).ok());
    return path;
  }

  static std::shared_ptr<Runner> create(const std::string& path, const std::string& input = "CPU",
                                        const std::string& output = "CPU") {
    return RunnerFactory::create_runner(
        RunnerType::VAIML, path, {{"input_tensor_type", input}, {"output_tensor_type", output}});
  }

  static Tensors numbers(const Runner& runner) {
    Tensors tensors = inputs(runner, 1, TensorType::CPU);
    for (int i = 0; i < 12; ++i) data<float>(tensors[0][0])[i] = 0.37f * static_cast<float>(i % 5);
    return tensors;
  }

  static std::vector<float> run(const std::string& path) {
    const std::shared_ptr<Runner> runner = create(path);
    Tensors out = outputs(*runner, 1, TensorType::CPU);
    EXPECT_EQ(runner->execute(numbers(*runner), out), StatusCode::SUCCESS);
    const float* scores = data<float>(out[0][0]);
    return {scores, scores + 40};
  }

  static float distance(const std::vector<float>& a, const std::vector<float>& b) {
    float largest = 0;
    for (size_t i = 0; i < a.size(); ++i) largest = std::max(largest, std::fabs(a[i] - b[i]));
    return largest;
  }

  static std::string failure(const std::string& path, const std::string& input,
                             const std::string& output) {
    try {
      create(path, input, output);
    } catch (const std::runtime_error& error) {
      return error.what();
    }
    return "none";
  }

 private:
  int archives_ = 0;
};

TEST_F(CpuPartitions, ABoundaryOnACpuPartitionHasNoHwView) {
  const auto runner = create(archive({"Exp"}));
  EXPECT_TRUE(runner->get_tensors_info(TensorDirection::INPUT, TensorType::HW).empty());
  EXPECT_EQ(runner->get_tensors_info(TensorDirection::OUTPUT, TensorType::HW).size(), 1u);
  EXPECT_EQ(runner->get_tensors_info(TensorDirection::INPUT, TensorType::CPU).size(), 1u);
  EXPECT_THROW(runner->get_tensor_info_by_name("input0", TensorType::HW), std::runtime_error);
  EXPECT_EQ(runner->get_quant_parameters("input0").scale, 1.0);
}

TEST_F(CpuPartitions, InTheMiddleTheyTakeNoView) {
  const auto runner = create(archive({"MatMul"}), "HW", "HW");
  EXPECT_EQ(runner->get_tensors_info(TensorDirection::INPUT, TensorType::HW).size(), 1u);
  EXPECT_EQ(runner->get_tensors_info(TensorDirection::OUTPUT, TensorType::HW).size(), 1u);
}

TEST_F(CpuPartitions, AskingForTheMissingViewFailsCreationWithTheReason) {
  EXPECT_THAT(failure(archive({"Exp"}), "HW", "CPU"),
              AllOf(HasSubstr("input \"input0\" lies on a CPU partition"),
                    HasSubstr("input_tensor_type \"CPU\"")));
  EXPECT_THAT(failure(archive({"Softmax"}), "CPU", "HW"),
              HasSubstr("output \"n2.out\" lies on a CPU partition"));
  EXPECT_EQ(failure(archive({"Exp"}), "CPU", "HW"), "none");
}

// input0 on the CPU and input1 on the NPU: their product is an output of the NPU, and its softmax
// one of the CPU.
class MixedSides : public CpuPartitions {
 protected:
  MixedSides() {
    lowering::GraphMaker maker;
    const auto on_cpu = maker.input({4, 4}), on_npu = maker.input({4, 4});
    const auto exponential = maker.unary(graph::UnaryKind::kExp, on_cpu);
    const auto product = maker.add(graph::MatMul{}, {exponential, on_npu});
    maker.output(maker.add(graph::Softmax{1, false}, {product}));
    maker.output(product);
    path_ = archive(maker.graph, {"Exp", "Softmax"});
  }

  std::shared_ptr<Runner> create_with(Options overrides) const {
    overrides.insert({{"input_tensor_type", "HW"}, {"output_tensor_type", "HW"}});
    return RunnerFactory::create_runner(RunnerType::VAIML, path_, overrides);
  }
  std::string failure_with(const Options& overrides) const {
    try {
      create_with(overrides);
    } catch (const std::runtime_error& error) {
      return error.what();
    }
    return "none";
  }

  // Tensors as a client takes them: the HW view where the model has one, else the CPU view.
  static std::vector<NpuTensor> preferring_hw(const Runner& runner, TensorDirection direction) {
    const auto& hw = runner.get_tensors_info(direction, TensorType::HW);
    std::vector<NpuTensor> tensors;
    for (const NpuTensorInfo& cpu : runner.get_tensors_info(direction, TensorType::CPU)) {
      const auto found = std::find_if(hw.begin(), hw.end(),
                                      [&](const auto& info) { return info.name == cpu.name; });
      tensors.push_back(runner.allocate_npu_tensor(found == hw.end() ? cpu : *found));
    }
    return tensors;
  }
  static void fill(Tensors& tensors) {
    for (NpuTensor& tensor : tensors[0])
      for (int i = 0; i < 16; ++i) data<float>(tensor)[i] = 0.21f * static_cast<float>(i % 7);
  }
  // In FP32 the GENERIC HW view of [4, 4] has the bytes of the CPU view.
  static void expect_equal(Tensors& actual, Tensors& expected) {
    for (size_t i = 0; i < expected[0].size(); ++i)
      EXPECT_EQ(std::memcmp(data(actual[0][i]), data(expected[0][i]), 16 * sizeof(float)), 0)
          << actual[0][i].get_info().name;
  }

  std::string path_;
  const Options on_cpu_ = {{"input_tensor_type.input0", "CPU"},
                           {"output_tensor_type.n2.out", "CPU"}};
};

TEST_F(MixedSides, HwInfosAreThoseOfTheTensorsThatHaveTheView) {
  const auto runner = create_with(on_cpu_);
  const auto& inputs_hw = runner->get_tensors_info(TensorDirection::INPUT, TensorType::HW);
  const auto& outputs_hw = runner->get_tensors_info(TensorDirection::OUTPUT, TensorType::HW);
  ASSERT_EQ(inputs_hw.size(), 1u);
  ASSERT_EQ(outputs_hw.size(), 1u);
  EXPECT_EQ(inputs_hw[0].name, "input1");
  EXPECT_EQ(outputs_hw[0].name, "n1.out");
  EXPECT_EQ(runner->get_tensors_info(TensorDirection::INPUT, TensorType::CPU).size(), 2u);
  EXPECT_EQ(&runner->get_tensor_info_by_name("input1", TensorType::HW), inputs_hw.data());
  EXPECT_THROW(runner->get_tensor_info_by_name("input0", TensorType::HW), std::runtime_error);
}

TEST_F(MixedSides, CreationTakesATypePerTensorAndNamesTheOneThatIsMissing) {
  EXPECT_THAT(failure_with({}), AllOf(HasSubstr("input \"input0\" lies on a CPU partition"),
                                      HasSubstr("input_tensor_type.input0 \"CPU\"")));
  EXPECT_THAT(failure_with({{"input_tensor_type.input0", "CPU"}}),
              HasSubstr("output_tensor_type.n2.out \"CPU\""));
  EXPECT_EQ(failure_with(on_cpu_), "none");
  EXPECT_EQ(failure_with({{"input_tensor_type", "CPU"},
                          {"input_tensor_type.input1", "HW"},
                          {"output_tensor_type", "CPU"},
                          {"output_tensor_type.n1.out", "HW"}}),
            "none");
}

TEST_F(MixedSides, OneJobTakesTensorsOfBothViews) {
  const auto runner = create_with(on_cpu_);
  Tensors plain_in = inputs(*runner, 1, TensorType::CPU);
  Tensors plain_out = outputs(*runner, 1, TensorType::CPU);
  fill(plain_in);
  ASSERT_EQ(runner->execute(plain_in, plain_out), StatusCode::SUCCESS);

  Tensors in{preferring_hw(*runner, TensorDirection::INPUT)};
  fill(in);
  Tensors out{preferring_hw(*runner, TensorDirection::OUTPUT)};
  ASSERT_EQ(runner->execute(in, out), StatusCode::SUCCESS);
  expect_equal(out, plain_out);

  Tensors later{preferring_hw(*runner, TensorDirection::OUTPUT)};
  EXPECT_EQ(runner->wait(runner->execute_async(in, later), kForever), StatusCode::SUCCESS);
  expect_equal(later, plain_out);
}

TEST_F(MixedSides, AnHwTensorIsRefusedWhereTheModelHasNoSuchView) {
  const auto runner = create_with(on_cpu_);
  const NpuTensor hw = preferring_hw(*runner, TensorDirection::INPUT)[1];
  Tensors out{preferring_hw(*runner, TensorDirection::OUTPUT)};
  EXPECT_EQ(runner->execute({{hw, hw}}, out), StatusCode::INVALID_INPUT);
  std::swap(out[0][0], out[0][1]);
  EXPECT_EQ(runner->execute({preferring_hw(*runner, TensorDirection::INPUT)}, out),
            StatusCode::INVALID_OUTPUT);
}

TEST_F(CpuPartitions, ResultsAreThoseOfTheNpu) {
  const std::vector<float> expected = run(archive({}));
  for (const CpuOperators& cpu_operators :
       {CpuOperators{"Exp"}, {"MatMul"}, {"Softmax"}, {"Exp", "Softmax"}})
    EXPECT_LE(distance(run(archive(cpu_operators)), expected), 1e-5f);
}

TEST_F(CpuPartitions, ASoftmaxOnTheCpuIsExactInABf16Model) {
  const std::vector<float> expected = run(archive({}));
  const std::vector<float> npu = run(archive({}, Precision::kBf16));
  const std::vector<float> cpu = run(archive({"Softmax"}, Precision::kBf16));
  EXPECT_LE(distance(cpu, expected), 1e-2f);
  const auto miss = [](const std::vector<float>& scores) {
    return std::fabs(std::accumulate(scores.begin(), scores.end(), -1.0));
  };
  EXPECT_LE(miss(cpu), 1e-5) << "the sum of the scores";
  EXPECT_GT(miss(npu), 10 * miss(cpu)) << "each score is rounded to BF16";
}

TEST_F(CpuPartitions, TheDirectoryFormRunsToo) {
  const std::string path =
      archive({"Exp", "Softmax"}, Precision::kFp32, model::ArchiveForm::kDirectory);
  EXPECT_LE(distance(run(path), run(archive({}))), 1e-5f);
}

// Jobs wait where they begin the partition at which `gate_` stands.
class OverlappingPartitions : public CpuPartitions {
 protected:
  OverlappingPartitions() {
    use_device("faulty-cpu");
    device_ = device::open_device("faulty-cpu", {.lanes = 2}).value();
    gate_ = device::faults_of(*device_);
  }
  ~OverlappingPartitions() override { test::let_everything_go(*gate_); }

  std::shared_ptr<device::Device> device_;
  std::shared_ptr<device::FaultPlan> gate_;
};

TEST_F(OverlappingPartitions, TheCpuPartOfAJobRunsWhileTheOneBeforeIsOnTheNpu) {
  const auto runner = create(archive({"Exp"}));  // partition 0 on the CPU, 1 on the NPU
  const Tensors in = numbers(*runner);
  Tensors first_out = outputs(*runner, 1, TensorType::CPU);
  Tensors second_out = outputs(*runner, 1, TensorType::CPU);
  gate_->hold_at(1);
  const JobHandle first = runner->execute_async(in, first_out);
  gate_->await_holds(1);  // the first job has come to the NPU, and stays there
  const JobHandle second = runner->execute_async(in, second_out);
  gate_->await_holds(2);  // so the second has been through its CPU partition
  EXPECT_EQ(runner->wait(first, std::chrono::milliseconds(0)), StatusCode::JOB_PENDING);
  EXPECT_EQ(runner->wait(second, std::chrono::milliseconds(0)), StatusCode::JOB_PENDING);
  gate_->release();
  EXPECT_EQ(runner->wait(first, kForever), StatusCode::SUCCESS);
  EXPECT_EQ(runner->wait(second, kForever), StatusCode::SUCCESS);
  EXPECT_EQ(std::memcmp(data(first_out[0][0]), data(second_out[0][0]), 40 * sizeof(float)), 0);
}

}  // namespace
}  // namespace millrace::vartml
