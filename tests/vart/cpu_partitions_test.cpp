// Models with CPU partitions behind the VART-ML face, on the software NPU.
#include <gmock/gmock.h>

#include <cmath>
#include <cstring>
#include <numeric>

#include "compiler/assemble.h"
#include "device/faulty/faulty_device.h"
#include "graph/archive_codec.h"
#include "tests/compiler/passes/graph_maker.h"
#include "tests/vart/runner_fixture.h"

namespace millrace::vartml {
namespace {

using compiler::CpuOperators;
using graph::Precision;
using ::testing::AllOf;
using ::testing::HasSubstr;

class CpuPartitions : public RunnerTest {
 protected:
  CpuPartitions() { use_device("cpu"); }

  // Exp -> MatMul -> Softmax: input0 [1, 12] to n2.out [1, 40], with these operators on the CPU.
  std::string archive(const CpuOperators& cpu_operators, Precision precision = Precision::kFp32,
                      model::ArchiveForm form = model::ArchiveForm::kFile) {
    compiler::GraphMaker maker;
    const auto x = maker.unary(graph::UnaryKind::kExp, maker.input({1, 12}));
    const auto product = maker.add(graph::MatMul{}, {x, maker.random({12, 40})});
    maker.output(maker.add(graph::Softmax{1, false}, {product}));
    return archive(maker.graph, cpu_operators, precision, form);
  }
  std::string archive(const graph::Graph& graph, const CpuOperators& cpu_operators,
                      Precision precision = Precision::kFp32,
                      model::ArchiveForm form = model::ArchiveForm::kFile) {
    const auto model = compiler::assemble(
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

// The lists of both views have one order, so one tensor without an HW view takes it from its side.
TEST_F(CpuPartitions, TheReasonNamesTheTensorThatLiesThere) {
  compiler::GraphMaker maker;
  const auto first = maker.input({4, 4}), second = maker.input({4, 4});
  maker.output(maker.add(graph::MatMul{}, {first, maker.unary(graph::UnaryKind::kExp, second)}));
  const std::string path = archive(maker.graph, {"Exp"});
  EXPECT_TRUE(create(path)->get_tensors_info(TensorDirection::INPUT, TensorType::HW).empty());
  EXPECT_THAT(failure(path, "HW", "HW"), HasSubstr("input \"input1\" lies on a CPU partition"));
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
