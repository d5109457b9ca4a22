// Models of one operator each, for every operator that the compiler imports.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "lowering/operators/operator_table.h"
#include "tests/compiler/onnx_builder.h"
#include "tests/e2e/standard_types.h"

namespace millrace::test {

using compiler::test::Attributes;
using compiler::test::Dims;
using compiler::test::Model;
using compiler::test::Names;
using ::onnx::TensorProto;

// The newest opset that the tests of operators go to.
inline constexpr int kNewestOpset = lowering::kMaxOpset;

inline const Dims kImage = {1, 4, 6, 6};

// Element `index` of every operand: small whole numbers from 1 on, or 0 and 1 in turn.
double operand_element(size_t index, bool boolean);

// Puts a model together. Its operands are of one type, which the test chooses; as graph inputs, or
// as constants so that the compiler computes the operator.
class ModelMaker {
 public:
  ModelMaker(std::string op_type, int opset, int type, bool as_constants, bool boolean,
             Dims shape = kImage);

  // The shape of the main operand, for operators that take any.
  const Dims& shape() const { return shape_; }

  // The type in question, of TensorProto.
  int type() const { return type_; }

  // An operand of that type.
  std::string operand(const std::string& name, const Dims& dims);
  // A constant of the type, whatever the operands are, from element `first` on.
  std::string constant(const std::string& name, const Dims& dims, size_t first = 0);
  TensorProto tensor(const std::string& name, const Dims& dims, size_t first = 0) const;
  // A list of numbers: an INT64 constant.
  std::string ints(const std::string& name, const Dims& elements);
  // The operator in question.
  void node(const Names& inputs, const Attributes& attributes = {}, const Names& outputs = {"y"});

  Model& model() { return model_; }

 private:
  std::string op_type_;
  int type_;
  bool as_constants_, boolean_;
  Dims shape_;
  Model model_;
};

struct OperatorCase {
  const char* op_type;
  void (*build)(ModelMaker& maker);
  Parameter parameter = {};                 // the one whose types the test goes through
  int reference_type = TensorProto::FLOAT;  // a type for which the result is known to be right
  int last_opset = kNewestOpset;
  int first_opset = 1;
};

const std::vector<OperatorCase>& operator_cases();

}  // namespace millrace::test
