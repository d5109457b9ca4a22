// Shape functions called without building a graph.
#pragma once

#include <gmock/gmock.h>

#include "graph/shape.h"

namespace millrace::graph {

inline Value f32(Dims shape) {
  return {"", tensor::DataType::kFloat32, std::move(shape), {}};
}
inline Value i64(Dims shape) {
  return {"", tensor::DataType::kInt64, std::move(shape), {}};
}

// A value without a type stands for an absent operand.
inline const Value kAbsent{};

inline Result<ValueType> infer_from(const Operator& op, const std::vector<Value>& inputs) {
  std::vector<const Value*> operands;
  for (const Value& value : inputs) {
    operands.push_back(value.type == tensor::DataType::kUnknown ? nullptr : &value);
  }
  return infer_output(op, operands);
}

inline void expect_shape(const Operator& op, const std::vector<Value>& inputs, const Dims& shape) {
  const auto output = infer_from(op, inputs);
  ASSERT_TRUE(output.ok()) << output.status().to_string();
  EXPECT_EQ(output->shape, shape);
  EXPECT_EQ(output->type, inputs[0].type);
}

inline void expect_refused(const Operator& op, const std::vector<Value>& inputs,
                           const char* reason) {
  const auto output = infer_from(op, inputs);
  ASSERT_FALSE(output.ok());
  EXPECT_EQ(output.status().code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(output.status().message(), ::testing::HasSubstr(reason));
}

}  // namespace millrace::graph
