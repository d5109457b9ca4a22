// LSTM, GRU and RNN.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "device/cpu/dnnl/defects.h"
#include "tests/device_cpu/accelerated/as_plain.h"
#include "tests/device_cpu/model_builder.h"
#include "tests/device_cpu/run_model.h"

namespace millrace::device::cpu {
namespace {

using tensor::DataType;

struct Sizes {
  int64_t steps = 5, batch = 3, input = 7, hidden = 6;
};

struct Cell {
  const char* op;
  int64_t gates;
  size_t outputs;
  std::vector<graph::Attribute> attributes = {};  // before "direction" in the alphabet
  std::vector<graph::Attribute> more = {};        // behind
};

// x, weights, recurrence weights and biases.
std::vector<Given> operands(const Cell& cell, const std::string& direction, const Sizes& sizes) {
  const int64_t directions = direction == "bidirectional" ? 2 : 1;
  const int64_t rows = cell.gates * sizes.hidden;
  return {input_of({sizes.steps, sizes.batch, sizes.input}, 1),
          constant_of({directions, rows, sizes.input}, 2),
          constant_of({directions, rows, sizes.hidden}, 3), constant_of({directions, 2 * rows}, 4)};
}

graph::Fallback op_of(const Cell& cell, const std::string& direction) {
  graph::Fallback op{cell.op, cell.attributes};
  op.attributes.push_back({"direction", direction});
  op.attributes.insert(op.attributes.end(), cell.more.begin(), cell.more.end());
  return op;
}

const Cell kCells[] = {
    {"LSTM", 4, 3},
    {"GRU", 3, 2},
    {"GRU", 3, 2, {}, {{"linear_before_reset", int64_t{1}}}},
    {"RNN", 1, 2},
};

constexpr Sizes kSizes[] = {{}, {4, 1, 16, 32}, {1, 2, 1, 1}, {3, 1, 5, 37}};

class FastRecurrence : public ::testing::TestWithParam<std::tuple<size_t, const char*, size_t>> {
 protected:
  const Cell& cell() const { return kCells[std::get<0>(GetParam())]; }
  std::string direction() const { return std::get<1>(GetParam()); }
  const Sizes& sizes() const { return kSizes[std::get<2>(GetParam())]; }
  // Recurrence adds up what rounding takes.
  static constexpr Tolerance kTolerance = {5e-6, 3e-2};

  void check(const Case& test) const {
    const bool is_usual_gru = cell().gates == 3 && cell().more.empty();
    const bool is_plain = is_usual_gru && sizes().hidden == 1 && !kGruOfOneUnitKeepsStates;
    is_plain ? expect_left_to_plain(test) : expect_as_plain(test, kTolerance);
  }
};

TEST_P(FastRecurrence, GivesWhatThePlainKernelGives) {
  auto given = operands(cell(), direction(), sizes());
  const graph::Fallback op = op_of(cell(), direction());
  for (size_t outputs = 1; outputs <= cell().outputs; ++outputs) check({op, given, outputs});
  given.pop_back();
  check({op, given, cell().outputs});
}

TEST_P(FastRecurrence, BeginsWithTheStatesItIsGiven) {
  auto given = operands(cell(), direction(), sizes());
  const auto expect_states = [&] { check({op_of(cell(), direction()), given, cell().outputs}); };
  const int64_t directions = given[1].elements.dims[0];
  const graph::Dims state = {directions, sizes().batch, sizes().hidden};
  given.push_back(absent());
  given.push_back(input_of(state, 5));
  expect_states();
  if (cell().outputs < 3) return;
  given.push_back(constant_of(state, 6));
  expect_states();
  given[5] = absent();
  expect_states();
}

std::string name_of_case(const ::testing::TestParamInfo<FastRecurrence::ParamType>& info) {
  const auto& [cell, direction, sizes] = info.param;
  return fmt::format("{}{}_{}_{}", kCells[cell].op, cell, direction, sizes);
}

TEST(FastLstm, KeepsNaN) {
  auto given = operands(kCells[0], "forward", kSizes[1]);
  given[0].elements.data[0] = std::numeric_limits<float>::quiet_NaN();
  ModelBuilder builder;
  std::vector<graph::ValueId> ids = {builder.input(given[0].elements.dims)};
  for (size_t i = 1; i < given.size(); ++i) ids.push_back(builder.constant(given[i].elements));
  builder.output(builder.fallback(op_of(kCells[0], "forward"), ids)[0]);
  EXPECT_THAT(run_model(builder.build(), {given[0].elements}).data,
              ::testing::Each(::testing::IsNan()));
}

TEST(FastLstm, OfHugeNumbersSaturates) {
  auto given = operands(kCells[0], "bidirectional", kSizes[1]);
  for (float& number : given[0].elements.data) number *= 1e6F;
  expect_as_plain({op_of(kCells[0], "bidirectional"), given, 3}, {5e-6, 3e-2});
}

INSTANTIATE_TEST_SUITE_P(All, FastRecurrence,
                         ::testing::Combine(::testing::Range(size_t{0}, std::size(kCells)),
                                            ::testing::Values("forward", "reverse",
                                                              "bidirectional"),
                                            ::testing::Range(size_t{0}, std::size(kSizes))),
                         name_of_case);

// DynamicQuantizeLSTM does this, unlike an LSTM that rounds nothing.
TEST(FastLstm, RoundsTheStateOfOneSequence) {
  const Cell cell{"millrace.RoundedLSTM", 4, 3};
  for (const char* direction : {"forward", "bidirectional"}) {
    auto given = operands(cell, direction, kSizes[1]);
    expect_as_plain({op_of(cell, direction), given, 3}, {5e-6, 3e-2});
    const graph::Dims state = {given[1].elements.dims[0], 1, kSizes[1].hidden};
    given.insert(given.end(), {absent(), input_of(state, 5), constant_of(state, 6)});
    expect_as_plain({op_of(cell, direction), given, 3}, {5e-6, 3e-2});
  }
  expect_left_to_plain({op_of(cell, "forward"), operands(cell, "forward", {}), 3});
}

// oneDNN's ReLU gives 0 for NaN.
TEST(FastRecurrence, LeavesReluToThePlainKernel) {
  const Cell cell{"RNN", 1, 2, {{"activations", std::vector<std::string>{"relu"}}}};
  expect_left_to_plain({op_of(cell, "forward"), operands(cell, "forward", {}), 2});
}

TEST(FastRecurrence, TakesLengthsThatAreAllWhole) {
  auto given = operands(kCells[0], "forward", {});
  given.push_back(constant(DataType::kInt32, {{3}, {5, 5, 5}}));
  expect_as_plain({op_of(kCells[0], "forward"), given, 3}, {5e-6, 3e-2});
}

TEST(FastRecurrence, LeavesTheRestToThePlainKernel) {
  const auto given = operands(kCells[0], "forward", {});
  auto lengths = given;
  lengths.push_back(constant(DataType::kInt32, {{3}, {5, 2, 5}}));
  expect_left_to_plain({op_of(kCells[0], "forward"), lengths, 3});
  lengths.back().is_constant = false;
  expect_left_to_plain({op_of(kCells[0], "forward"), lengths, 3});

  auto computed = given;
  computed[1].is_constant = false;
  expect_left_to_plain({op_of(kCells[0], "forward"), computed, 3});

  auto peepholes = given;
  peepholes.insert(peepholes.end(), {absent(), absent(), absent(), constant_of({1, 18}, 5)});
  expect_left_to_plain({op_of(kCells[0], "forward"), peepholes, 3});

  const std::vector<std::string> others = {"HardSigmoid", "Tanh", "Tanh"};
  for (const Cell& cell : {Cell{"LSTM", 4, 3, {{"clip", 0.5f}}},
                           Cell{"LSTM", 4, 3, {}, {{"input_forget", int64_t{1}}}},
                           Cell{"LSTM", 4, 3, {{"activations", others}}}})
    expect_left_to_plain({op_of(cell, "forward"), given, 3});

  auto batch_first = given;
  batch_first[0] = input_of({3, 5, 7}, 1);
  const Cell cell{"LSTM", 4, 3, {}, {{"layout", int64_t{1}}}};
  expect_left_to_plain({op_of(cell, "forward"), batch_first, 3});
}

}  // namespace
}  // namespace millrace::device::cpu
