// Passes NaN, infinities, zeros of either sign and denormal numbers through every operator that the
// compiler imports, from the ONNX file to the result, and compares whether each element is NaN,
// infinite or finite. The same operator in DOUBLE, which the plain kernels compute, is the
// reference for FLOAT in each precision, on the NPU and on CPU partitions.
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>
#include <optional>
#include <span>

#include "base/process/topology.h"
#include "tests/e2e/operator_models.h"
#include "tests/e2e/pipeline.h"
#include "tests/support/temporary_directory.h"

namespace millrace::test {
namespace {

using tensor::DataType;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kDenormal = 1e-40;

std::string class_of(double x) {
  const auto as_float = static_cast<float>(x);
  if (std::isnan(as_float)) return "NaN";
  if (std::isinf(as_float)) return as_float > 0 ? "inf" : "-inf";
  return "finite";
}

// A run with one special value in one operand, in one place or in all.
struct Round {
  double value;
  size_t operand;
  enum Where { kFirst, kMiddle, kLast, kEverywhere } where;

  double element(size_t of_operand, size_t index, size_t count) const {
    const size_t place = where == kFirst ? 0 : where == kMiddle ? count / 2 : count - 1;
    const bool is_there = of_operand == operand && (where == kEverywhere || index == place);
    return is_there ? value : operand_element(index, false);
  }
};

std::vector<Round> all_rounds() {
  std::vector<Round> rounds;
  for (const double value : {kNan, kInf, -kInf, -0.0, kDenormal})
    for (const size_t operand : {0u, 1u})
      for (const auto where : {Round::kFirst, Round::kMiddle, Round::kLast, Round::kEverywhere})
        rounds.push_back({value, operand, where});
  return rounds;
}

template <class T>
std::vector<std::byte> encode_as(const Round& round, size_t operand, size_t count) {
  std::vector<T> elements;
  for (size_t i = 0; i < count; ++i)
    elements.push_back(static_cast<T>(round.element(operand, i, count)));
  const auto bytes = std::as_bytes(std::span(elements));
  return {bytes.begin(), bytes.end()};
}

template <class T>
void decode_as(const std::vector<std::byte>& bytes, std::vector<double>& numbers) {
  for (size_t at = 0; at < bytes.size(); at += sizeof(T)) {
    T element;
    std::memcpy(&element, bytes.data() + at, sizeof element);
    numbers.push_back(static_cast<double>(element));
  }
}

// Returns nothing if an operand is neither FLOAT nor DOUBLE, or the result has no classes.
std::optional<std::vector<double>> run(runtime::Session& session, const Round& round) {
  FrameBytes frames(1);
  for (size_t i = 0; i < session.model().inputs.size(); ++i) {
    const graph::Boundary& input = session.model().inputs[i];
    const size_t count = session.model().graph.values[input.value].elements();
    if (input.cpu.type == DataType::kFloat32)
      frames[0].push_back(encode_as<float>(round, i, count));
    else if (input.cpu.type == DataType::kFloat64)
      frames[0].push_back(encode_as<double>(round, i, count));
    else
      return std::nullopt;
  }
  const auto outputs = run_async(session, frames, device::View::kCpu);
  EXPECT_TRUE(outputs.ok()) << outputs.status().to_string();
  if (!outputs.ok()) return std::nullopt;
  std::vector<double> numbers;
  switch (session.model().outputs[0].cpu.type) {
    case DataType::kFloat32:
      decode_as<float>(outputs->at(0).at(0), numbers);
      return numbers;
    case DataType::kFloat64:
      decode_as<double>(outputs->at(0).at(0), numbers);
      return numbers;
    case DataType::kBoolean:
      decode_as<uint8_t>(outputs->at(0).at(0), numbers);
      return numbers;
    default:
      return std::nullopt;
  }
}

class SpecialValuesOfOperators : public ::testing::TestWithParam<size_t> {
 protected:
  const OperatorCase& test_case() const { return operator_cases()[GetParam()]; }

  std::unique_ptr<runtime::Session> open(int type, const compiler::CompileOptions& options) {
    const int opset = std::clamp(21, test_case().first_opset, test_case().last_opset);
    ModelMaker maker(test_case().op_type, opset, type, false, false);
    test_case().build(maker);
    const std::string path = directory_.file("model.onnx");
    std::ofstream(path, std::ios::binary) << maker.model().bytes();
    auto archive = compile_to_archive(path, options);
    if (!archive.ok()) return nullptr;
    auto session = open_session(*std::move(archive), "cpu");
    return session.ok() ? *std::move(session) : nullptr;
  }

  // With AMX, oneDNN multiplies pixels behind a window by 0, so a NaN or an infinity there spreads.
  bool may_spread(const compiler::CompileOptions& options) const {
    return std::string_view(test_case().op_type) == "Conv" &&
           options.precision == graph::Precision::kBf16 && topology().features.amx_bf16;
  }

  // A result of BOOLEANs is compared directly.
  void expect_classes(runtime::Session& session, runtime::Session& reference, const Round& round,
                      bool may_spread) {
    const auto actual = run(session, round), expected = run(reference, round);
    if (!actual || !expected) return;
    ASSERT_EQ(actual->size(), expected->size());
    const bool boolean = session.model().outputs[0].cpu.type == DataType::kBoolean;
    for (size_t i = 0; i < actual->size(); ++i) {
      if (may_spread && std::isnan((*actual)[i])) continue;
      if (boolean)
        ASSERT_EQ((*actual)[i], (*expected)[i]) << "element " << i;
      else
        ASSERT_EQ(class_of((*actual)[i]), class_of((*expected)[i]))
            << "element " << i << ": " << (*actual)[i] << " instead of " << (*expected)[i];
    }
  }

  TemporaryDirectory directory_;
};

TEST_P(SpecialValuesOfOperators, AreThoseOfThePlainKernels) {
  const auto reference = open(TensorProto::DOUBLE, {});
  if (!reference) return;  // no operator of real numbers
  struct Variant {
    const char* name;
    compiler::CompileOptions options;
    bool has_denormals;
  };
  compiler::CompileOptions on_cpu, bf16, fp16;
  on_cpu.cpu_operators = {test_case().op_type};
  bf16.precision = graph::Precision::kBf16;
  fp16.precision = graph::Precision::kFp16;
  for (const Variant& variant : {Variant{"NPU", {}, true}, Variant{"CPU", on_cpu, true},
                                 Variant{"BF16", bf16, false}, Variant{"FP16", fp16, false}}) {
    const auto session = open(TensorProto::FLOAT, variant.options);
    if (!session) continue;  // the operator has become one with another name
    for (const Round& round : all_rounds()) {
      if (round.value == kDenormal && !variant.has_denormals) continue;
      SCOPED_TRACE(std::string(variant.name) + ", " + std::to_string(round.value) + " in operand " +
                   std::to_string(round.operand) + ", place " + std::to_string(round.where));
      expect_classes(*session, *reference, round, may_spread(variant.options));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, SpecialValuesOfOperators,
                         ::testing::Range(size_t{0}, operator_cases().size()),
                         [](const auto& info) {
                           return operator_cases()[info.param].op_type + std::to_string(info.param);
                         });

}  // namespace
}  // namespace millrace::test
