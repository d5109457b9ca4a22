// The types of operators that the ONNX standard lists: from the ONNX library, which knows opset 17,
// and from lists of our own for later opsets.
#pragma once

#include <set>
#include <string>

namespace millrace::test {

// The part of an operator's signature that has the type in question.
struct Parameter {
  bool output = false;
  int index = 0;
};

// Types of the standard that TensorProto of libonnx does not have, by the number they have
// there.
enum NarrowType : int {
  kFloat8E4M3FN = 17,
  kFloat8E4M3FNUZ,
  kFloat8E5M2,
  kFloat8E5M2FNUZ,
  kUint4,
  kInt4,
  kFloat4E2M1,
  kFloat8E8M0,
  kUint2,
  kInt2
};

// The name of a type of TensorProto, or of a narrow type.
std::string type_name(int type);

// The element types (of TensorProto) that the standard lists for a parameter of the operator in an
// opset of the default domain; the floating types where libonnx is older than the operator and
// there is no list of it here.
std::set<int> standard_types(const std::string& op_type, int opset, Parameter parameter);

}  // namespace millrace::test
