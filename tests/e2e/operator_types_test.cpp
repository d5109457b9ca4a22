// Every operator that the compiler imports, with every element type there is, from the ONNX file to
// the result. The result is right, or the compiler refuses the model and names the reason: what
// compiles loads, and nothing crashes.
//
// The reference is the same operator on constants of type FLOAT (indices: INT64), which the
// compiler computes by itself where it can (lowering/evaluate/evaluate.h) and the device computes
// in FP32 where it cannot. For integers its numbers are cut towards zero, and wrap around.
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <set>

#include "fallback/operator_table.h"
#include "graph/shape.h"
#include "lowering/fallback_import.h"
#include "lowering/operators/operator_table.h"
#include "tensor/half.h"
#include "tests/e2e/operator_models.h"
#include "tests/e2e/pipeline.h"
#include "tests/support/temporary_directory.h"

namespace millrace::test {
namespace {

using tensor::DataType;
using Numbers = std::vector<double>;

template <class T>
void append(std::vector<std::byte>& bytes, T element) {
  const auto begin = bytes.size();
  bytes.resize(begin + sizeof element);
  std::memcpy(bytes.data() + begin, &element, sizeof element);
}

// Calls visit(T{}) with the C++ type of the elements; a 16-bit float is a uint16_t of bits.
template <class Visit>
void visit_elements(DataType type, Visit&& visit) {
  switch (type) {
    case DataType::kInt8:
      return visit(int8_t{});
    case DataType::kInt16:
      return visit(int16_t{});
    case DataType::kInt32:
      return visit(int32_t{});
    case DataType::kInt64:
      return visit(int64_t{});
    case DataType::kUint32:
      return visit(uint32_t{});
    case DataType::kUint64:
      return visit(uint64_t{});
    case DataType::kFloat32:
      return visit(float{});
    case DataType::kFloat64:
      return visit(double{});
    case DataType::kFp16:
    case DataType::kBf16:
    case DataType::kUint16:
      return visit(uint16_t{});
    default:
      return visit(uint8_t{});
  }
}

std::vector<std::byte> encode(DataType type, size_t count, bool boolean) {
  std::vector<std::byte> bytes;
  visit_elements(type, [&](auto zero) {
    for (size_t i = 0; i < count; ++i) {
      const double element = operand_element(i, boolean);
      if (type == DataType::kFp16) {
        append(bytes, tensor::float_to_fp16(static_cast<float>(element)));
      } else if (type == DataType::kBf16) {
        append(bytes, tensor::float_to_bf16(static_cast<float>(element)));
      } else {
        append(bytes, static_cast<decltype(zero)>(element));
      }
    }
  });
  return bytes;
}

Numbers decode(DataType type, const std::vector<std::byte>& bytes) {
  Numbers numbers;
  visit_elements(type, [&](auto element) {
    for (size_t i = 0; i < bytes.size(); i += sizeof element) {
      std::memcpy(&element, bytes.data() + i, sizeof element);
      if (type == DataType::kFp16) {
        numbers.push_back(tensor::fp16_to_float(static_cast<uint16_t>(element)));
      } else if (type == DataType::kBf16) {
        numbers.push_back(tensor::bf16_to_float(static_cast<uint16_t>(element)));
      } else {
        numbers.push_back(static_cast<double>(element));
      }
    }
  });
  return numbers;
}

// A number of the reference as an element of `type`.
double as_element(double number, DataType type) {
  if (!tensor::is_integer(type)) return number;
  visit_elements(type, [&](auto zero) {
    number = static_cast<double>(static_cast<decltype(zero)>(static_cast<int64_t>(number)));
  });
  return number;
}

// The first output of the model for one frame.
Numbers run(runtime::Session& session, bool boolean) {
  FrameBytes frames(1);
  for (const graph::Boundary& input : session.model().inputs)
    frames[0].push_back(
        encode(input.cpu.type, session.model().graph.values[input.value].elements(), boolean));
  const auto outputs = run_async(session, frames, device::View::kCpu);
  EXPECT_TRUE(outputs.ok()) << outputs.status().to_string();
  if (!outputs.ok()) return {};
  return decode(session.model().outputs[0].cpu.type, outputs->at(0).at(0));
}

class OperatorTypes : public ::testing::TestWithParam<size_t> {
 protected:
  const OperatorCase& test_case() const { return operator_cases()[GetParam()]; }

  Result<std::vector<std::byte>> compile(int opset, int type, bool as_constants, bool boolean,
                                         graph::Precision precision = graph::Precision::kFp32) {
    ModelMaker maker(test_case().op_type, opset, type, as_constants, boolean, shape_);
    test_case().build(maker);
    const std::string path = directory_.file("model.onnx");
    std::ofstream(path, std::ios::binary) << maker.model().bytes();
    return compile_to_archive(path, {.precision = precision});
  }

  // The result of the operator for constants.
  Numbers reference(int opset, bool boolean) {
    auto archive = compile(opset, test_case().reference_type, true, boolean);
    EXPECT_TRUE(archive.ok()) << archive.status().to_string();
    if (!archive.ok()) return {};
    const auto session = open_session(*std::move(archive), "cpu");
    EXPECT_TRUE(session.ok()) << session.status().to_string();
    return session.ok() ? run(**session, boolean) : Numbers();
  }

  void expect_right_result(int opset, int type, std::vector<std::byte> archive) {
    const bool boolean = type == TensorProto::BOOL;
    const auto session = open_session(std::move(archive), "cpu");
    ASSERT_TRUE(session.ok()) << "it compiles, but does not load: " << session.status().to_string();
    const Numbers actual = run(**session, boolean), expected = reference(opset, boolean);
    ASSERT_EQ(actual.size(), expected.size());
    const DataType result = (*session)->model().outputs[0].cpu.type;
    for (size_t i = 0; i < actual.size(); ++i) {
      const double wanted = as_element(expected[i], result);
      ASSERT_NEAR(actual[i], wanted, 1e-5 * (1 + std::fabs(wanted))) << "element " << i;
    }
  }

  // docs/opsets.md says of the operators of later opsets that they take all types of the standard,
  // as far as tensors of a network have them. An Attention has no mask of DOUBLE.
  bool must_compile(int type, bool in_standard) const {
    constexpr int kNowhere[] = {TensorProto::STRING, TensorProto::COMPLEX64,
                                TensorProto::COMPLEX128};
    if (std::string_view(test_case().op_type) == "Attention" && type == TensorProto::DOUBLE)
      return false;
    return in_standard && test_case().first_opset >= 23 && type <= TensorProto::BFLOAT16 &&
           std::ranges::count(kNowhere, type) == 0;
  }

  void expect_clean_refusal(const Status& status, bool in_standard) {
    const bool unsupported = status.code() == StatusCode::kUnsupported;
    EXPECT_TRUE(unsupported || (!in_standard && status.code() == StatusCode::kInvalidArgument))
        << status.to_string();
  }

  void try_type(int opset, int type, bool in_standard) {
    SCOPED_TRACE(std::string(test_case().op_type) + " of opset " + std::to_string(opset) +
                 " with " + type_name(type));
    const bool boolean = type == TensorProto::BOOL;
    auto archive = compile(opset, type, false, boolean);
    if (!archive.ok()) {
      EXPECT_FALSE(must_compile(type, in_standard)) << archive.status().to_string();
      return expect_clean_refusal(archive.status(), in_standard);
    }
    expect_right_result(opset, type, *std::move(archive));
    const auto bf16 = compile(opset, type, false, boolean, graph::Precision::kBf16);
    ASSERT_TRUE(bf16.ok()) << bf16.status().to_string();
    const auto session = open_session(*bf16, "cpu");
    EXPECT_TRUE(session.ok()) << session.status().to_string();
  }

  // Returns the opset of those with this form of the operator that is nearest to `opset`.
  int opset_near(int opset) const {
    return std::clamp(opset, test_case().first_opset, test_case().last_opset);
  }

  std::set<int> types_in(int opset) const {
    return standard_types(test_case().op_type, opset, test_case().parameter);
  }

  TemporaryDirectory directory_;
  Dims shape_ = kImage;
};

bool is_imported(const std::string& type, int opset) {
  network::Node node;
  node.type = type;
  return lowering::find_operator("", type, opset) != nullptr || lowering::has_fallback(node, opset);
}

TEST_P(OperatorTypes, GiveTheRightResultOrACleanRefusal) {
  std::set<int> opsets;
  for (const int newest : {17, 21, kNewestOpset}) opsets.insert(opset_near(newest));
  if (types_in(23) != types_in(21)) opsets.insert(opset_near(23));
  for (const int opset : opsets) {
    if (!is_imported(test_case().op_type, opset)) continue;
    const auto standard = types_in(opset);
    EXPECT_FALSE(standard.empty());
    for (int type = TensorProto::FLOAT; type <= kInt2; ++type)
      try_type(opset, type, standard.contains(type));
  }
}

// Tests the operators that take any shape; the others build models with shapes of their own.
TEST_P(OperatorTypes, TakeEveryRankOrRefuseIt) {
  const int opset = opset_near(21);
  for (size_t rank = 0; rank <= graph::kMaxRank; ++rank) {
    SCOPED_TRACE("rank " + std::to_string(rank));
    shape_ = Dims(rank, 2);
    auto archive = compile(opset, TensorProto::FLOAT, false, false);
    if (archive.ok()) expect_right_result(opset, TensorProto::FLOAT, *std::move(archive));
  }
}

std::string name_of_case(const ::testing::TestParamInfo<size_t>& info) {
  return operator_cases()[info.param].op_type + std::to_string(info.param);
}

INSTANTIATE_TEST_SUITE_P(All, OperatorTypes, ::testing::Range(size_t{0}, operator_cases().size()),
                         name_of_case);

bool has_case(std::string_view type) {
  return std::ranges::any_of(operator_cases(),
                             [&](const OperatorCase& test) { return type == test.op_type; });
}

TEST(OperatorCases, CoverEveryOperatorThatIsImported) {
  for (const lowering::OperatorEntry& entry : lowering::operator_table()) {
    if (!entry.domain.empty()) continue;  // the standard says nothing of their types
    const std::string_view type = entry.type;
    // Their operands have types of their own: compiler/onnx/quantised_test.cpp.
    if (type.starts_with("QLinear")) continue;
    // They stand for no operator of the graph: compiler/onnx/sequences_test.cpp.
    if (type.find("Sequence") != type.npos) continue;
    EXPECT_TRUE(has_case(type)) << type << " has no model in operator_models.cpp";
  }
}

// The ONNX backend tests look at the fallbacks of earlier opsets.
TEST(OperatorCases, CoverEveryFallbackOfLaterOpsets) {
  for (const auto family : fallback::operator_families()) {
    for (const fallback::OperatorSpec& spec : family) {
      if (spec.since < 23) continue;
      EXPECT_TRUE(has_case(spec.name)) << spec.name << " has no model in operator_models.cpp";
    }
  }
}

}  // namespace
}  // namespace millrace::test
