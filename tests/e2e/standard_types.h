// The types of operators that the ONNX standard lists, from the ONNX library.
#pragma once

#include <set>
#include <string>

namespace millrace::test {

// The part of an operator's signature that has the type in question.
struct Parameter {
  bool output = false;
  int index = 0;
};

// The element types (of TensorProto) that the standard lists for a parameter of the operator in an
// opset of the default domain; the floating types where the library is older than the operator.
std::set<int> standard_types(const std::string& op_type, int opset, Parameter parameter);

}  // namespace millrace::test
