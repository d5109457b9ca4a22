// Operators whose operands are parts of larger tensors give the same results as for elements in
// separate memory, bit for bit where one implementation serves all layouts.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "device/cpu/capabilities/capabilities.h"
#include "device/cpu/dnnl/defects.h"
#include "fallback/operator_table.h"
#include "tests/device_cpu/run_model.h"
#include "tests/device_cpu/views/operand_cases.h"
#include "tests/device_cpu/views/part.h"

namespace millrace::device::cpu {
namespace {

using graph::Precision;
using graph::ValueId;
using tensor::DataType;

// The place of one operand of a model in memory.
struct Place {
  size_t operand;
  Part part;
  bool is_made;  // the larger tensor is computed
};

Tensor negated(const Tensor& x) {
  return map(x, [](float element) { return -element; });
}

// The type of numbers with which the operator computes.
enum class Numbers { kFp32, kBf16, kInt8 };

graph::Quantisation in_steps_of(float scale) {
  return {{scale}, {0}, 0};
}
constexpr float kStep = 1 / 64.0f;

// The model of one node, and its inputs.
class Model {
 public:
  explicit Model(Numbers numbers)
      : numbers_(numbers),
        builder_(numbers == Numbers::kBf16 ? Precision::kBf16 : Precision::kFp32) {}

  std::vector<Tensor> run(const OperandCase& test, const std::vector<Place>& places) {
    std::vector<ValueId> operands;
    for (size_t i = 0; i < test.operands.size(); ++i)
      operands.push_back(add(test.operands[i], place_of(i, places)));
    if (numbers_ == Numbers::kInt8)
      builder_.output(builder_.node(graph::Requantise{}, {add_in_steps(test.op, operands)}));
    else
      for (const ValueId id : add_node(builder_, test, operands)) builder_.output(id);
    return cpu::run(*load(builder_.build()), inputs_);
  }

 private:
  static std::optional<Place> place_of(size_t operand, const std::vector<Place>& places) {
    for (const Place& place : places)
      if (place.operand == operand) return place;
    return std::nullopt;
  }

  bool is_in_steps(const Given& given) const {
    return numbers_ == Numbers::kInt8 && given.type == DataType::kFloat32;
  }

  ValueId add(const Given& given, const std::optional<Place>& place) {
    if (given.type == DataType::kUnknown) return graph::kNoValue;
    if (given.is_constant)
      return is_in_steps(given) ? weights(given) : add_constant(builder_, given);
    if (place) return add_part(given, *place);
    const ValueId id = input(given.elements, given.type);
    return is_in_steps(given) ? quantise(id) : id;
  }

  ValueId add_part(const Given& given, const Place& place) {
    // Every computation with a NaN gives a NaN.
    const float fill = tensor::is_floating(given.type) ? std::nanf("") : 1;
    const Tensor whole = embed(place.part, given.elements, fill);
    const AddNode add = [this](graph::Operator op, std::vector<ValueId> inputs) {
      return builder_.node(std::move(op), std::move(inputs));
    };
    const AddNode add_steps = [this](const graph::Operator& op,
                                     const std::vector<ValueId>& inputs) {
      return add_in_steps(op, inputs);
    };
    const auto take_from = [&](const AddNode& by, ValueId id) {
      return take(builder_, by, place.part, id, given.elements.dims);
    };
    if (!place.is_made) {
      const ValueId part = take_from(add, input(whole, given.type));
      return is_in_steps(given) ? quantise(part) : part;
    }
    if (is_in_steps(given)) return take_from(add_steps, quantise(input(whole, given.type)));
    return take_from(add, negate(input(negated(whole), given.type)));
  }

  ValueId input(Tensor elements, DataType type) {
    inputs_.push_back(std::move(elements));
    return builder_.input(inputs_.back().dims, type);
  }
  ValueId negate(ValueId x) {
    return builder_.node(graph::Unary{{graph::UnaryKind::kNeg, 0, 0}}, {x});
  }
  ValueId quantise(ValueId x) { return add_in_steps(graph::Requantise{}, {x}); }
  ValueId add_in_steps(const graph::Operator& op, const std::vector<ValueId>& inputs) {
    return builder_.quantised(op, inputs, DataType::kInt8, in_steps_of(kStep));
  }
  ValueId weights(const Given& given) {
    std::vector<int8_t> elements;
    for (const float element : given.elements.data)
      elements.push_back(static_cast<int8_t>(element / kStep));
    return builder_.quantised_constant(given.elements.dims, DataType::kInt8, elements,
                                       in_steps_of(kStep));
  }

  const Numbers numbers_;
  ModelBuilder builder_;
  std::vector<Tensor> inputs_;
};

// Returns whether the implementation, and so the order in which it adds, depends on the layout.
bool depends_on_layout(const OperandCase& test) {
  const auto* fallback = std::get_if<graph::Fallback>(&test.op);
  return std::holds_alternative<graph::BatchNormalization>(test.op) ||
         (!kSoftmaxIgnoresLayout && std::holds_alternative<graph::Softmax>(test.op)) ||
         (fallback != nullptr &&
          (fallback->name == "millrace.Attention" || fallback->name == "millrace.CachedAttention"));
}

void expect_same(const OperandCase& test, const std::vector<Tensor>& actual,
                 const std::vector<Tensor>& expected) {
  ASSERT_EQ(actual.size(), expected.size());
  for (size_t i = 0; i < actual.size(); ++i) {
    if (depends_on_layout(test))
      expect_close(actual[i], expected[i], Tolerance{}.fp32);
    else
      EXPECT_EQ(actual[i].data, expected[i].data) << "output " << i;
  }
}

// An operand may be any part of an input, or rows or columns of a value that the model computes.
std::vector<Place> places_for(size_t operand, const Given& given) {
  std::vector<Place> places;
  if (given.is_constant || given.type == DataType::kUnknown) return places;
  for (const Part part : kParts)
    if (is_possible(part, given.elements.dims)) places.push_back({operand, part, false});
  if (given.type != DataType::kFloat32) return places;
  for (const Part part : {Part::kRows, Part::kColumns})
    if (is_possible(part, given.elements.dims)) places.push_back({operand, part, true});
  return places;
}

// Quantised integers represent the numbers with which operators of the graph compute.
bool has_integer_form(const OperandCase& test) {
  if (std::holds_alternative<graph::Fallback>(test.op)) return false;
  if (std::holds_alternative<graph::Cast>(test.op)) return false;
  return test.operands[0].type == DataType::kFloat32;
}

std::string operator_name(const OperandCase& test) {
  return std::holds_alternative<graph::Fallback>(test.op) ? "Fallback" : graph::name_of(test.op);
}

std::set<std::string> operator_names() {
  std::set<std::string> names;
  for (const OperandCase& test : operand_cases()) names.insert(operator_name(test));
  return names;
}

void expect_same_anywhere(const OperandCase& test, Numbers numbers) {
  const std::vector<Tensor> expected = Model(numbers).run(test, {});
  std::vector<Place> all;
  for (size_t i = 0; i < test.operands.size(); ++i) {
    const std::vector<Place> places = places_for(i, test.operands[i]);
    for (const Place& place : places) {
      SCOPED_TRACE(::testing::Message()
                   << test.name << ": operand " << i << " is " << name_of(place.part)
                   << (place.is_made ? " of a value" : " of an input"));
      expect_same(test, Model(numbers).run(test, {place}), expected);
    }
    if (!places.empty()) all.push_back(places.front());
  }
  SCOPED_TRACE(test.name + ": all operands are rows of inputs");
  expect_same(test, Model(numbers).run(test, all), expected);
}

class OperandViews : public ::testing::TestWithParam<std::tuple<std::string, Numbers>> {};

TEST_P(OperandViews, GiveTheSameAsMemoryOfTheirOwn) {
  const auto& [name, numbers] = GetParam();
  for (const OperandCase& test : operand_cases())
    if (operator_name(test) == name && (numbers != Numbers::kInt8 || has_integer_form(test)))
      expect_same_anywhere(test, numbers);
}

std::string test_name(const ::testing::TestParamInfo<OperandViews::ParamType>& info) {
  constexpr const char* kNames[] = {"Fp32", "Bf16", "Int8"};
  const auto& [name, numbers] = info.param;
  return name + kNames[static_cast<size_t>(numbers)];
}

INSTANTIATE_TEST_SUITE_P(All, OperandViews,
                         ::testing::Combine(::testing::ValuesIn(operator_names()),
                                            ::testing::Values(Numbers::kFp32, Numbers::kBf16,
                                                              Numbers::kInt8)),
                         test_name);

std::string function_name(const graph::Operator& op) {
  const char* const function = graph::function_of(op);
  return graph::name_of(op) + (function == nullptr ? "" : std::string(" ") + function);
}

std::set<std::string> covered() {
  std::set<std::string> names;
  for (const OperandCase& test : operand_cases()) names.insert(function_name(test.op));
  return names;
}

// Requantise comes before the operands and after the results that are quantised.
TEST(OperandCases, CoverEveryOperatorOfTheGraph) {
  const std::set<std::string> names = covered();
  for (const graph::OperatorTypes& row : capabilities().operators()) {
    const std::string op = row.op;
    if (op == "Fallback" || op == "Requantise") continue;
    const bool is_covered = std::ranges::any_of(names, [&](const std::string& name) {
      return row.function != nullptr ? name == op + " " + row.function
                                     : name == op || name.starts_with(op + " ");
    });
    EXPECT_TRUE(is_covered) << op << " has no row in operand_cases.cpp";
  }
}

TEST(OperandCases, CoverEveryFastFallback) {
  const std::set<std::string> names = covered();
  for (const auto& family : fallback::operator_families())
    for (const fallback::OperatorSpec& spec : family)
      for (const DataType type : {DataType::kFloat32, DataType::kUint8}) {
        graph::Graph graph;
        const ValueId x = graph.add_value({"x", type, {1}, {}});
        if (capabilities().runs_on_npu(graph, {"node", graph::Fallback{spec.name, {}}, {x}, {}})) {
          EXPECT_TRUE(names.contains(spec.name)) << spec.name << " has no row in operand_cases.cpp";
        }
      }
}

}  // namespace
}  // namespace millrace::device::cpu
