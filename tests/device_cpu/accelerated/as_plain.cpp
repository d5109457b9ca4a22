#include "tests/device_cpu/accelerated/as_plain.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>

#include "fallback/evaluate.h"
#include "tensor/conversion/conversion.h"
#include "tests/device_cpu/model_builder.h"
#include "tests/device_cpu/run_model.h"

namespace millrace::device::cpu {
namespace {

using graph::PartitionKind;
using graph::Precision;
using graph::ValueId;
using tensor::DataType;

struct Array {
  DataType type = DataType::kUnknown;
  graph::Dims dims;
  std::vector<std::byte> bytes;
};

tensor::Conversion conversion_to(const Array& array) {
  std::vector<uint32_t> shape(array.dims.begin(), array.dims.end());
  const auto floats = tensor::make_cpu_desc("x", DataType::kFloat32, shape);
  const auto own = tensor::make_cpu_desc("x", array.type, shape);
  return tensor::Conversion::plan(floats, own, {}).value();
}

Array empty_array(DataType type, const graph::Dims& dims) {
  Array array{type, dims, {}};
  array.bytes.resize(static_cast<size_t>(elements_of(dims)) * tensor::size_of(type));
  return array;
}

Array to_array(const Given& given) {
  if (given.type == DataType::kUnknown) return {};
  Array array = empty_array(given.type, given.elements.dims);
  conversion_to(array).to_hw(given.elements.data.data(), array.bytes.data());
  return array;
}

std::vector<Tensor> run_plain(const Case& test) {
  std::vector<Array> operands, results;
  std::vector<fallback::TensorView> views;
  for (const Given& given : test.operands) operands.push_back(to_array(given));
  for (const Array& array : operands) views.push_back({array.type, array.dims, array.bytes.data()});
  const auto types = fallback::infer_outputs(test.op, views, test.outputs);
  if (!types.ok()) throw std::invalid_argument(types.status().to_string());
  for (const graph::ValueType& type : *types) results.push_back(empty_array(type.type, type.shape));
  std::vector<fallback::OutputView> targets;
  for (Array& array : results) targets.push_back({array.type, array.dims, array.bytes.data()});
  const Status status = fallback::run(test.op, views, targets);
  if (!status.ok()) throw std::runtime_error(status.to_string());
  std::vector<Tensor> tensors;
  for (const Array& array : results) {
    tensors.push_back(Tensor::zeros(array.dims));
    conversion_to(array).to_cpu(array.bytes.data(), tensors.back().data.data());
  }
  return tensors;
}

std::shared_ptr<const Program> load_case(const Case& test, PartitionKind kind,
                                         Precision precision) {
  ModelBuilder builder(precision);
  builder.begin_partition(kind);
  std::vector<ValueId> operands;
  for (const Given& given : test.operands) {
    if (given.type == DataType::kUnknown)
      operands.push_back(graph::kNoValue);
    else if (!given.is_constant)
      operands.push_back(builder.input(given.elements.dims, given.type));
    else
      operands.push_back(
          builder.raw_constant(given.elements.dims, given.type, to_array(given).bytes));
  }
  for (const ValueId id : builder.fallback(test.op, operands, test.outputs)) builder.output(id);
  return load(builder.build());
}

std::vector<Tensor> inputs_of(const Case& test) {
  std::vector<Tensor> inputs;
  for (const Given& given : test.operands)
    if (given.type != DataType::kUnknown && !given.is_constant) inputs.push_back(given.elements);
  return inputs;
}

bool runs_plain(const Program& program) {
  return std::ranges::count(program.info().steps, "millrace:fallback", &StepInfo::implementation) >
         0;
}

void expect_all_close(const std::vector<Tensor>& actual, const std::vector<Tensor>& expected,
                      double tolerance) {
  ASSERT_EQ(actual.size(), expected.size());
  for (size_t i = 0; i < actual.size(); ++i) {
    SCOPED_TRACE(::testing::Message() << "output " << i);
    expect_close(actual[i], expected[i], tolerance);
  }
}

void expect(const Case& test, bool fast, const Tolerance& tolerance) {
  const std::vector<Tensor> expected = run_plain(test);
  for (const PartitionKind kind : {PartitionKind::kNpu, PartitionKind::kCpu})
    for (const Precision precision : {Precision::kFp32, Precision::kBf16}) {
      SCOPED_TRACE(::testing::Message() << test.op.name << " on the " << graph::name_of(kind)
                                        << (precision == Precision::kBf16 ? ", BF16" : ", FP32"));
      const auto program = load_case(test, kind, precision);
      EXPECT_NE(runs_plain(*program), fast);
      const bool rounded = kind == PartitionKind::kNpu && precision == Precision::kBf16;
      expect_all_close(run(*program, inputs_of(test)), expected,
                       rounded ? tolerance.bf16 : tolerance.fp32);
    }
}

}  // namespace

void expect_as_plain(const Case& test, const Tolerance& tolerance) {
  expect(test, true, tolerance);
}

void expect_left_to_plain(const Case& test) {
  expect(test, false, {0, Tolerance().bf16});
}

std::vector<Tensor> results_of(const Case& test) {
  return run(*load_case(test, PartitionKind::kNpu, Precision::kFp32), inputs_of(test));
}

}  // namespace millrace::device::cpu
