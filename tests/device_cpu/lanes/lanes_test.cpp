// One job on several lanes: the same bits however many lanes there are and however many jobs are in
// flight, and a stop in the middle of such a job. Also the other option of the device.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/process/topology.h"
#include "device/registry.h"
#include "queue/lanes/lanes_impl.h"
#include "runtime/session.h"
#include "tests/device_cpu/model_builder.h"
#include "tests/device_cpu/run_model.h"
#include "tests/support/test_run.h"

// Functions of the OpenMP runtime that libdnnl uses, too; "#pragma omp parallel" compiles to these.
extern "C" {
void GOMP_parallel(void (*function)(void*), void* data, unsigned threads, unsigned flags);
int omp_get_max_threads(void);
int omp_get_num_threads(void);
void omp_set_num_threads(int threads);
}

namespace millrace::device::cpu {
namespace {

using graph::Precision;
using graph::Quantisation;
using graph::Requantise;
using graph::ValueId;
using tensor::DataType;

using Model = std::shared_ptr<const graph::CompiledModel>;
using Bytes = std::vector<std::byte>;

constexpr graph::Activation kRelu{graph::UnaryKind::kRelu, 0, 0};

ValueId convolve(ModelBuilder& builder, ValueId x, const graph::Dims& weight, int64_t group) {
  const std::vector<int64_t> same(2, weight[2] / 2);
  return builder.node(graph::Conv{{1, 1}, {1, 1}, same, same, group, kRelu},
                      {x, builder.constant(Tensor::numbers(weight, 5)),
                       builder.constant(Tensor::numbers({weight[0]}, 6))});
}

// A network of the layers of mobile networks, large enough to be divided.
Model network(Precision precision) {
  ModelBuilder builder(precision);
  ValueId x = convolve(builder, builder.input({1, 16, 57, 57}), {64, 16, 3, 3}, 1);
  const ValueId mixed = convolve(builder, x, {64, 64, 1, 1}, 1);
  const ValueId wide = convolve(builder, mixed, {64, 1, 3, 3}, 64);
  x = builder.node(graph::Binary{graph::BinaryKind::kAdd}, {x, wide});
  x = convolve(builder, x, {128, 64, 1, 1}, 1);
  x = builder.node(
      graph::Pool{graph::PoolKind::kMax, {3, 3}, {2, 2}, {1, 1}, {1, 1}, {1, 1}, {0, 0}}, {x});
  builder.output(convolve(builder, x, {160, 128, 3, 3}, 1));
  return builder.build();
}

// Filters that reach over the edges of the image in several ways, and over the rows of two lanes.
Model windows(Precision precision) {
  ModelBuilder builder(precision);
  const auto add = [&](const graph::Conv& op, ValueId x, const graph::Dims& weight) {
    return builder.node(op, {x, builder.constant(Tensor::numbers(weight, 5)),
                             builder.constant(Tensor::numbers({weight[0]}, 6))});
  };
  ValueId x = builder.input({1, 32, 29, 31});
  x = add({{2, 1}, {1, 1}, {0, 1}, {1, 1}, 1, kRelu}, x, {64, 32, 3, 3});
  x = add({{1, 1}, {2, 2}, {2, 2}, {2, 2}, 1, kRelu}, x, {64, 64, 3, 3});
  builder.output(add({{1, 2}, {1, 1}, {1, 0}, {3, 1}, 1, {}}, x, {64, 64, 5, 3}));
  // With four lanes, the rows of some lanes consist of padding.
  builder.output(add({{1, 1}, {1, 1}, {8, 1}, {8, 1}, 1, kRelu}, builder.input({1, 32, 2, 64}),
                     {64, 32, 3, 3}));
  return builder.build();
}

// Images of integers with these levels, as all that is made of them.
ValueId input_of_integers(ModelBuilder& builder, const graph::Dims& dims,
                          const Quantisation& levels) {
  return builder.quantised(Requantise{}, {builder.input(dims)}, DataType::kUint8, levels);
}

ValueId convolve_integers(ModelBuilder& builder, const graph::Conv& op, ValueId x,
                          const graph::Dims& weight, const Quantisation& levels,
                          ValueId residual = graph::kNoValue) {
  std::vector<int8_t> elements;
  for (const float number : Tensor::numbers(weight, 77).data)
    elements.push_back(static_cast<int8_t>(number * 127));
  const auto filters = static_cast<size_t>(weight[0]);
  const Quantisation scales{std::vector<float>(filters, 1 / 512.0f),
                            std::vector<int32_t>(filters, 0), 0};
  std::vector<ValueId> operands = {
      x, builder.quantised_constant(weight, DataType::kInt8, elements, scales)};
  if (residual != graph::kNoValue) operands.insert(operands.end(), {graph::kNoValue, residual});
  return builder.quantised(op, operands, DataType::kUint8, levels);
}

// The same with integers, whose padding stands for 0, and a sum.
Model integer_windows() {
  const Quantisation levels{{1 / 64.0f}, {128}, 0};
  ModelBuilder builder;
  const auto add = [&](const graph::Conv& op, ValueId x, const graph::Dims& weight,
                       ValueId residual = graph::kNoValue) {
    return convolve_integers(builder, op, x, weight, levels, residual);
  };
  const auto input = [&](const graph::Dims& dims) {
    return input_of_integers(builder, dims, levels);
  };
  ValueId x =
      add({{2, 1}, {1, 1}, {0, 1}, {1, 1}, 1, kRelu}, input({1, 32, 29, 31}), {64, 32, 3, 3});
  const ValueId sum = add({{1, 1}, {2, 2}, {2, 2}, {2, 2}, 1, {}}, x, {64, 64, 3, 3}, x);
  x = add({{1, 2}, {1, 1}, {1, 0}, {3, 1}, 1, {}}, sum, {64, 64, 5, 3});
  builder.output(builder.node(Requantise{}, {x}));
  x = add({{1, 1}, {1, 1}, {8, 1}, {8, 1}, 1, kRelu}, input({1, 32, 2, 64}), {64, 32, 3, 3});
  builder.output(builder.node(Requantise{}, {x}));
  return builder.build();
}

// Convolutions with post-operations: they add to their residual, in place or to a copy, and apply a
// PRelu.
Model fused(Precision precision) {
  const graph::Conv op{{1, 1}, {1, 1}, {1, 1}, {1, 1}, 1, kRelu};
  ModelBuilder builder(precision);
  const ValueId weight = builder.constant(Tensor::numbers({64, 64, 3, 3}, 5)),
                bias = builder.constant(Tensor::numbers({64}, 6)),
                slope = builder.constant(Tensor::numbers({64}, 7));
  const ValueId x = builder.node(op, {builder.input({1, 64, 21, 19}), weight, bias});
  const ValueId y = builder.node(op, {x, weight, bias, x});
  const ValueId z = builder.node(op, {y, weight, bias, x});
  builder.output(builder.node(graph::Conv{{1, 1}, {1, 1}, {1, 1}, {1, 1}, 1, {}},
                              {z, weight, bias, graph::kNoValue, slope}));
  return builder.build();
}

// A few rows, and many, by a large matrix.
Model products() {
  ModelBuilder builder;
  for (const int64_t rows : {1, 3, 197}) {
    const ValueId weight = builder.constant(Tensor::numbers({1024, 1000}, 8));
    builder.output(builder.node(graph::MatMul{}, {builder.input({rows, 1024}), weight}));
  }
  return builder.build();
}

Model integers() {
  constexpr int64_t kChannels = 64;
  const Quantisation levels{{1 / 64.0f}, {0}, 0};
  ModelBuilder builder;
  ValueId x = input_of_integers(builder, {1, kChannels, 57, 57}, levels);
  int64_t channels = kChannels;
  const auto add = [&](int64_t to, int64_t kernel, bool is_depthwise) {
    const graph::Dims weight{to, is_depthwise ? 1 : std::exchange(channels, to), kernel, kernel};
    const std::vector<int64_t> same(2, kernel / 2);
    x = convolve_integers(builder, {{1, 1}, {1, 1}, same, same, is_depthwise ? to : 1, kRelu}, x,
                          weight, levels);
  };
  add(kChannels, 3, false);
  add(kChannels, 1, false);
  add(kChannels, 3, true);
  // One step.
  add(80, 1, false);
  add(80, 3, true);
  builder.output(builder.node(Requantise{}, {x}));
  return builder.build();
}

// Residual connections whose sums are rounded apart, as the device's own loops add them.
Model integer_sums() {
  const Quantisation levels{{1 / 64.0f}, {128}, 0};
  ModelBuilder builder;
  ValueId x = input_of_integers(builder, {1, 64, 41, 39}, levels);
  for (int i = 0; i < 2; ++i) {
    const ValueId made = convolve_integers(builder, {{1, 1}, {1, 1}, {0, 0}, {0, 0}, 1, {}}, x,
                                           {64, 64, 1, 1}, levels);
    x = builder.quantised(graph::Binary{graph::BinaryKind::kAdd}, {made, x}, DataType::kUint8,
                          levels);
  }
  builder.output(builder.node(Requantise{}, {x}));
  return builder.build();
}

// Makes one operator with operands of these shapes, large enough to be divided.
Model one_operator(const graph::Operator& op, const std::vector<graph::Dims>& inputs,
                   Precision precision) {
  ModelBuilder builder(precision);
  std::vector<ValueId> operands;
  for (const graph::Dims& dims : inputs) operands.push_back(builder.input(dims));
  builder.output(builder.node(op, operands));
  return builder.build();
}

// The image comes from a convolution, so its layout has blocks of channels.
Model behind_convolution(const graph::Operator& op, int64_t channels) {
  ModelBuilder builder;
  const ValueId x = convolve(builder, builder.input({1, 16, 88, 96}), {channels, 16, 3, 3}, 1);
  builder.output(builder.node(op, {x}));
  return builder.build();
}

// The parameters are inputs, or computed by the program, so no pass has merged them with a
// neighbouring node.
Model batch_normalisation(const graph::Dims& dims, Precision precision) {
  const graph::Dims channels = {dims[1]};
  ModelBuilder builder(precision);
  const ValueId x = builder.input(dims), scale = builder.input(channels),
                bias = builder.input(channels), mean = builder.input(channels);
  const ValueId squares = builder.node(graph::Binary{graph::BinaryKind::kMul}, {mean, mean});
  builder.output(builder.node(graph::BatchNormalization{1e-3F}, {x, scale, bias, mean, squares}));
  return builder.build();
}

// Makes a fallback operator, which may have a fast lowering.
Model fallback_operator(const char* name, std::vector<graph::Attribute> attributes,
                        const std::vector<graph::Dims>& inputs, Precision precision) {
  ModelBuilder builder(precision);
  std::vector<ValueId> operands;
  for (const graph::Dims& dims : inputs) operands.push_back(builder.input(dims));
  for (const ValueId id : builder.fallback({name, std::move(attributes)}, operands))
    builder.output(id);
  return builder.build();
}

// Two directions, which two lanes can take.
Model recurrence() {
  constexpr int64_t kSteps = 40, kUnits = 100, kRows = 4 * kUnits;
  ModelBuilder builder;
  const ValueId x = builder.input({kSteps, 1, kUnits});
  const ValueId weights = builder.constant(Tensor::numbers({2, kRows, kUnits}, 3));
  const ValueId recurrence = builder.constant(Tensor::numbers({2, kRows, kUnits}, 4));
  for (const ValueId id : builder.fallback({"LSTM", {{"direction", std::string("bidirectional")}}},
                                           {x, weights, recurrence}, 3))
    builder.output(id);
  return builder.build();
}

std::shared_ptr<Device> device_with(uint32_t lanes) {
  return open_device("cpu", {.lanes = lanes}).value();
}

// The memory of one job, in views that the program accepts.
class JobMemory {
 public:
  explicit JobMemory(const Program& program) {
    const graph::CompiledModel& model = program.model();
    for (size_t i = 0; i < model.inputs.size(); ++i) {
      add(program, Direction::kInput, i, model.inputs[i]);
      fill(memory_.back(), views_.back() == View::kCpu ? DataType::kFloat32 : DataType::kBf16);
    }
    for (size_t i = 0; i < model.outputs.size(); ++i)
      add(program, Direction::kOutput, i, model.outputs[i]);
    inputs_ = model.inputs.size();
  }

  std::vector<Binding> bindings(Direction direction) {
    std::vector<Binding> result;
    for (size_t i = 0; i < memory_.size(); ++i)
      if ((direction == Direction::kInput) == (i < inputs_))
        result.push_back({memory_[i].data(), views_[i]});
    return result;
  }
  std::vector<runtime::TensorBinding> tensors(Direction direction) {
    std::vector<runtime::TensorBinding> result;
    for (const Binding& binding : bindings(direction))
      result.push_back({.data = binding.data, .view = binding.view, .owner = nullptr});
    return result;
  }
  std::vector<Bytes> outputs() const {
    return {memory_.begin() + static_cast<std::ptrdiff_t>(inputs_), memory_.end()};
  }

 private:
  void add(const Program& program, Direction direction, size_t index,
           const graph::Boundary& boundary) {
    const bool cpu = program.accepts(direction, index, View::kCpu);
    views_.push_back(cpu ? View::kCpu : View::kHw);
    memory_.emplace_back((cpu ? boundary.cpu : *boundary.hw).bytes());
  }

  // BF16 are the upper halves of numbers; where these are integers, any bytes will do.
  static void fill(Bytes& memory, DataType type) {
    const size_t size = tensor::size_of(type), count = memory.size() / size;
    const Tensor numbers = Tensor::numbers({static_cast<int64_t>(count)}, 1);
    for (size_t i = 0; i < count; ++i)
      std::memcpy(memory.data() + i * size,
                  reinterpret_cast<const std::byte*>(&numbers.data[i]) + sizeof(float) - size,
                  size);
  }

  std::vector<Bytes> memory_;  // inputs, then outputs
  std::vector<View> views_;
  size_t inputs_ = 0;
};

// The outputs of each of `jobs` jobs, all in flight at the same time, on `lanes` lanes.
std::vector<std::vector<Bytes>> results(const Model& model, uint32_t lanes, size_t jobs) {
  const auto device = device_with(lanes);
  const auto program = device->load(model).value();
  const auto session = runtime::Session::create(
                           device, program, {.max_concurrent_runs = static_cast<uint32_t>(jobs)})
                           .value();
  std::vector<JobMemory> memory(jobs, JobMemory(*program));
  std::vector<runtime::SessionJobId> ids;
  for (JobMemory& job : memory) {
    const auto inputs = job.tensors(Direction::kInput), outputs = job.tensors(Direction::kOutput);
    ids.push_back(session->submit({.inputs = inputs, .outputs = outputs}).value());
  }
  for (const runtime::SessionJobId id : ids)
    EXPECT_TRUE(session->wait(id, std::chrono::minutes(5)).ok());
  std::vector<std::vector<Bytes>> all;
  for (const JobMemory& job : memory) all.push_back(job.outputs());
  return all;
}

// Adds a NaN to one row of an image, which a convolution with a fused ReLU reads.
Model convolution_of_nan(int64_t row) {
  const graph::Dims dims = {1, 64, 57, 57};
  Tensor nan = Tensor::zeros(dims);
  nan.at({0, 0, row, 20}) = std::numeric_limits<float>::quiet_NaN();
  ModelBuilder builder;
  const ValueId x = builder.node(graph::Binary{graph::BinaryKind::kAdd},
                                 {builder.input(dims), builder.constant(nan)});
  builder.output(convolve(builder, x, {64, 64, 3, 3}, 1));
  return builder.build();
}

size_t count_nans(const Bytes& floats) {
  std::vector<float> elements(floats.size() / sizeof(float));
  std::memcpy(elements.data(), floats.data(), floats.size());
  return static_cast<size_t>(
      std::ranges::count_if(elements, [](float element) { return std::isnan(element); }));
}

// A lane that meets the NaN tells the one that runs the job, whichever of them that is.
TEST(NanOnLanes, ReachesTheResultsThatDependOnIt) {
  for (const int64_t row : {1, 28, 55}) {
    const Model model = convolution_of_nan(row);
    const std::vector<Bytes> expected = results(model, 1, 1).front();
    EXPECT_GE(count_nans(expected.front()), 64u * 9) << "row " << row;
    for (const uint32_t lanes : {2u, 4u})
      EXPECT_THAT(results(model, lanes, 2), ::testing::Each(expected))
          << "row " << row << " on " << lanes << " lanes";
  }
}

struct Case {
  const char* name;
  std::function<Model()> make;
};

class JobOnLanes : public ::testing::TestWithParam<Case> {};

TEST_P(JobOnLanes, GivesTheSameBitsOnAnyNumberOfThem) {
  const Model model = GetParam().make();
  const std::vector<Bytes> expected = results(model, 1, 1).front();
  EXPECT_NE(expected.front(), Bytes(expected.front().size()));
  for (const uint32_t lanes : {1u, 2u, 4u})
    for (const size_t jobs : {1u, 2u, 8u})
      EXPECT_THAT(results(model, lanes, jobs), ::testing::Each(expected))
          << jobs << " jobs on " << lanes << " lanes";
}

// None of oneDNN's primitives for these, divided or not, fails because its threads wait for
// each other, and the bits are the same as on one lane.
class OperatorOnLanes : public ::testing::TestWithParam<Precision> {
 protected:
  static void expect_same_bits(const std::string& name, const Model& model) {
    const std::vector<Bytes> expected = results(model, 1, 1).front();
    for (const uint32_t lanes : {2u, 4u})
      EXPECT_THAT(results(model, lanes, 1), ::testing::Each(expected))
          << name << " on " << lanes << " lanes";
  }
  static void expect_same_bits(const graph::Operator& op, const std::vector<graph::Dims>& inputs) {
    expect_same_bits(std::string(graph::name_of(op)), one_operator(op, inputs, GetParam()));
  }
};

const graph::Dims kImage = {1, 24, 88, 96}, kFewChannels = {1, 3, 240, 240};

TEST_P(OperatorOnLanes, BatchNormalization) {
  // The sizes are above and below the one from which oneDNN takes groups of channels in sequence.
  for (const graph::Dims& dims :
       {graph::Dims{1, 8, 176, 320}, graph::Dims{1, 16, 88, 160}, graph::Dims{1, 8, 16, 16},
        graph::Dims{4, 8, 96, 96}, graph::Dims{2, 3, 300, 300}, graph::Dims{64, 7000}})
    expect_same_bits("BatchNormalization", batch_normalisation(dims, GetParam()));
}

TEST_P(OperatorOnLanes, Elementwise) {
  if (*MILLRACE_SANITIZE != '\0')
    GTEST_SKIP() << "takes minutes; the other operators are divided alike";
  using graph::UnaryKind;
  for (int kind = 1; kind < graph::kUnaryKindCount; ++kind)
    expect_same_bits(graph::Unary{{static_cast<UnaryKind>(kind), 0.5F, 2}}, {kImage});
  for (int kind = 0; kind < graph::kBinaryKindCount; ++kind)
    for (const graph::Dims& other : {kImage, graph::Dims{1, 24, 1, 1}, graph::Dims{96}})
      expect_same_bits(graph::Binary{static_cast<graph::BinaryKind>(kind)}, {kImage, other});
}

TEST_P(OperatorOnLanes, PoolsAndReductions) {
  if (*MILLRACE_SANITIZE != '\0')
    GTEST_SKIP() << "takes minutes; the other operators are divided alike";
  for (const graph::Dims& dims : {kImage, kFewChannels, graph::Dims{1, 32, 88, 96}}) {
    for (const auto kind : {graph::PoolKind::kMax, graph::PoolKind::kAverage}) {
      expect_same_bits(graph::Pool{kind, {3, 3}, {2, 2}, {1, 1}, {1, 1}, {1, 1}, {0, 0}}, {dims});
      expect_same_bits(graph::GlobalPool{kind}, {dims});
    }
    for (int kind = 0; kind < graph::kReduceKindCount; ++kind)
      for (const graph::Dims& axes : {graph::Dims{1}, graph::Dims{3}, graph::Dims{2, 3}})
        expect_same_bits(graph::Reduce{static_cast<graph::ReduceKind>(kind), axes, true}, {dims});
    for (const int64_t axis : {1, 3}) expect_same_bits(graph::Softmax{axis, false}, {dims});
  }
  expect_same_bits(graph::Softmax{1, true}, {{64, 1000}});
}

TEST_P(OperatorOnLanes, Movement) {
  expect_same_bits(graph::Transpose{{0, 2, 3, 1}}, {kImage});
  expect_same_bits(graph::Concat{1}, {kImage, kImage});
  expect_same_bits(graph::Pad{graph::PadMode::kConstant, {0, 0, 1, 1}, {0, 0, 1, 1}, 0}, {kImage});
  for (const auto mode : {graph::ResizeMode::kNearest, graph::ResizeMode::kLinear})
    expect_same_bits(graph::Resize{mode,
                                   graph::CoordinateMode::kHalfPixel,
                                   graph::NearestMode::kFloor,
                                   {1, 24, 176, 192},
                                   {1, 1, 2, 2}},
                     {kImage});
}

TEST_P(OperatorOnLanes, Products) {
  for (const int64_t rows : {1, 7, 200}) {
    expect_same_bits(graph::MatMul{}, {{rows, 700}, {700, 900}});
    expect_same_bits(graph::MatMul{}, {{4, rows, 300}, {4, 300, 200}});
  }
}

TEST_P(OperatorOnLanes, Normalisations) {
  const graph::Dims rows = {1, 197, 768}, group = {768};
  const Precision precision = GetParam();
  const auto expect = [&](const char* name, std::vector<graph::Attribute> attributes,
                          const std::vector<graph::Dims>& inputs) {
    expect_same_bits(name, fallback_operator(name, std::move(attributes), inputs, precision));
  };
  expect("LayerNormalization", {}, {rows, group, group});
  expect("RMSNormalization", {}, {rows, group});
  expect("SimplifiedLayerNormalization", {}, {rows, group});
  expect("InstanceNormalization", {}, {kImage, {24}, {24}});
  expect("GroupNormalization", {{"num_groups", int64_t{4}}}, {kImage, {24}, {24}});
  expect("LRN", {{"size", int64_t{5}}}, {kImage});
}

TEST(OperatorOnLanesBehindConvolution, GivesTheSameBits) {
  for (const int64_t channels : {32, 20}) {
    const std::vector<graph::Operator> operators = {
        graph::Softmax{1, false}, graph::GlobalPool{graph::PoolKind::kAverage},
        graph::Reduce{graph::ReduceKind::kMean, {1}, true},
        graph::Pool{graph::PoolKind::kAverage, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}, {0, 0}},
        graph::Resize{graph::ResizeMode::kLinear,
                      graph::CoordinateMode::kHalfPixel,
                      graph::NearestMode::kFloor,
                      {1, channels, 132, 144},
                      {1, 1, 1.5F, 1.5F}}};
    for (const graph::Operator& op : operators) {
      const Model model = behind_convolution(op, channels);
      const std::vector<Bytes> expected = results(model, 1, 1).front();
      for (const uint32_t lanes : {2u, 4u})
        EXPECT_THAT(results(model, lanes, 1), ::testing::Each(expected))
            << graph::name_of(op) << " on " << lanes << " lanes";
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Precisions, OperatorOnLanes,
                         ::testing::Values(Precision::kFp32, Precision::kBf16),
                         [](const auto& info) {
                           return info.param == Precision::kFp32 ? "fp32" : "bf16";
                         });

TEST(DividedJob, HasConvolutionsByRows) {
  const auto by_rows = [](const Model& model, uint32_t lanes) {
    const auto program = device_with(lanes)->load(model).value();
    return std::ranges::count_if(implementations(*program), [](const std::string& name) {
      return name.ends_with(", by rows");
    });
  };
  EXPECT_EQ(by_rows(integers(), 1), 0);
  // On these processors oneDNN is the fastest with channels innermost.
  const CpuFeatures& features = topology().features;
  if (features.avx512_vnni) {
    EXPECT_GT(by_rows(integers(), 2), 0);
    EXPECT_EQ(by_rows(integer_windows(), 2), 4);
    EXPECT_EQ(by_rows(integer_windows(), 4), 3) << "rows of one consist of padding";
  }
  if (features.amx_bf16) {
    EXPECT_EQ(by_rows(fused(Precision::kBf16), 2), 4);
    // Whether the fourth has channels innermost, too, depends on the processor. With four lanes
    // the rows of some of its parts would consist of padding.
    EXPECT_GE(by_rows(windows(Precision::kBf16), 2), 3);
    EXPECT_EQ(by_rows(windows(Precision::kBf16), 4), 3);
  }
}

TEST(DividedJob, AddsResidualsInLoopsOfItsOwn) {
  if (!topology().features.avx512_vnni) GTEST_SKIP() << "sums are computed in FP32 here";
  const auto program = device_with(2)->load(integer_sums()).value();
  const auto steps = implementations(*program);
  EXPECT_EQ(std::ranges::count(steps, "Conv millrace:pointwise"), 2);
}

TEST(DividedJob, GivesTheSameBitsInEveryMode) {
  const Model model = network(Precision::kFp32);
  const std::vector<Bytes> expected = results(model, 1, 1).front();
  for (const char* mode : {"latency", "throughput"}) {
    setenv("MILLRACE_JOB_MODE", mode, 1);
    EXPECT_THAT(results(model, 2, 3), ::testing::Each(expected)) << mode;
    unsetenv("MILLRACE_JOB_MODE");
  }
}

INSTANTIATE_TEST_SUITE_P(
    Models, JobOnLanes,
    ::testing::Values(Case{"fp32", [] { return network(Precision::kFp32); }},
                      Case{"bf16", [] { return network(Precision::kBf16); }},
                      Case{"windows", [] { return windows(Precision::kFp32); }},
                      Case{"bf16_windows", [] { return windows(Precision::kBf16); }},
                      Case{"fused", [] { return fused(Precision::kFp32); }},
                      Case{"bf16_fused", [] { return fused(Precision::kBf16); }},
                      Case{"int8_windows", integer_windows}, Case{"products", products},
                      Case{"int8", integers}, Case{"int8_sums", integer_sums},
                      Case{"lstm", recurrence}),
    [](const auto& info) { return std::string(info.param.name); });

// Here, because the device has to be opened anew for it, as for other numbers of lanes.
TEST(StatedPrecision, IsThatOfTheModelWhereverTheProcessorCan) {
  const auto device = open_device("cpu", {.lanes = 1, .stated_precision = true}).value();
  const auto precision = [&] {
    return device->load(network(Precision::kBf16)).value()->info().precision;
  };
  unsetenv("MILLRACE_NO_BF16");
  EXPECT_EQ(precision(), topology().features.avx512_bf16 ? Precision::kBf16 : Precision::kFp32);
  setenv("MILLRACE_NO_BF16", "1", 1);
  EXPECT_EQ(precision(), Precision::kFp32) << "the variable takes precedence";
  setenv("MILLRACE_NO_BF16", "0", 1);  // as all tests have it
}

// Asks a job to stop when that step begins, or the first one after it.
class StopAt final : public queue::ProgressObserver {
 public:
  StopAt(test::TestRun& run, uint32_t step) : run_(run), step_(step) {}
  void on_progress(const queue::RunControl& control) noexcept override {
    if (control.position().step >= step_) run_.stop();
  }

 private:
  test::TestRun& run_;
  const uint32_t step_;
};

TEST(DividedJob, StopsBetweenStepsAndRunsAgain) {
  const auto device = device_with(3);
  const auto program = device->load(network(Precision::kFp32)).value();
  const auto context = program->create_context().value();
  JobMemory memory(*program);
  const auto inputs = memory.bindings(Direction::kInput);
  const auto outputs = memory.bindings(Direction::kOutput);
  const auto run = [&](std::optional<uint32_t> stop_at) {
    test::TestRun control;
    control.set_team(device->lanes().impl()->team());
    if (!stop_at) return context->run(inputs, outputs, control);
    StopAt observer(control, *stop_at);
    const queue::ObserverScope scope(control, observer);
    return context->run(inputs, outputs, control);
  };
  ASSERT_TRUE(run(std::nullopt).ok());
  const auto expected = memory.outputs();
  for (const uint32_t step : {0u, 1u, 2u}) {
    EXPECT_EQ(run(step).code(), StatusCode::kCancelled) << "at step " << step;
    ASSERT_TRUE(run(std::nullopt).ok());
    EXPECT_EQ(memory.outputs(), expected);
  }
}

// Each thread of a region of the program's runs jobs. What is divided in them are chunks of the
// device, and the region stays what it is.
TEST(DividedJob, RunsInAProgramThatUsesOpenMp) {
  struct Host {
    std::unique_ptr<runtime::Session> session;
    std::vector<JobMemory> memory;
    std::atomic<size_t> next{0};
    std::atomic<int> threads{0};

    void run_jobs() {
      JobMemory& mine = memory[next.fetch_add(1)];
      const auto inputs = mine.tensors(Direction::kInput);
      const auto outputs = mine.tensors(Direction::kOutput);
      for (int i = 0; i < 5; ++i)
        EXPECT_TRUE(session->execute({.inputs = inputs, .outputs = outputs}).ok());
      threads += omp_get_num_threads();
    }
  };
  const Model model = network(Precision::kFp32);
  const std::vector<Bytes> expected = results(model, 1, 1).front();
  const int before = omp_get_max_threads();
  omp_set_num_threads(3);
  Host host;
  {
    const auto device = device_with(2);
    const auto program = device->load(model).value();
    host.session = runtime::Session::create(device, program, {}).value();
    host.memory.assign(3, JobMemory(*program));
    GOMP_parallel([](void* data) { static_cast<Host*>(data)->run_jobs(); }, &host, 3, 0);
    // Read here, where the additions of all threads say to ThreadSanitizer, too, that these have
    // ended: how libgomp waits for them it does not see, because that library is not compiled with
    // it.
    EXPECT_EQ(host.threads, 3 * 3);
    host.session.reset();
  }
  EXPECT_EQ(omp_get_max_threads(), 3);
  omp_set_num_threads(before);
  for (const JobMemory& memory : host.memory) EXPECT_EQ(memory.outputs(), expected);
}

TEST(DividedJob, TheVariableThatLimitsItIsChecked) {
  const auto device = device_with(2);
  for (const char* wrong : {"0", "many", "-1"}) {
    setenv("MILLRACE_LANES_PER_JOB", wrong, 1);
    const Status status = device->load(network(Precision::kFp32)).status();
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument) << wrong;
    EXPECT_THAT(status.message(), ::testing::HasSubstr("MILLRACE_LANES_PER_JOB"));
  }
  setenv("MILLRACE_LANES_PER_JOB", "1", 1);
  EXPECT_TRUE(device->load(network(Precision::kFp32)).ok());
  unsetenv("MILLRACE_LANES_PER_JOB");
}

}  // namespace
}  // namespace millrace::device::cpu
