// MatMul of constants: strided row-by-column products, with sums in double, over a broadcast batch.
#include <algorithm>

#include "graph/shape.h"
#include "lowering/evaluate/evaluate_math.h"

namespace millrace::lowering {
namespace {

using graph::Dims;
using graph::Value;
using tensor::DataType;

// The most multiplications of a matrix product that is folded: about a second of work.
constexpr int64_t kMaxProducts = int64_t{1} << 30;

// One operand of a matrix product: matrices with the strides between their rows and columns, in
// elements, and the shape of their batch.
struct Matrices {
  const float* data = nullptr;
  int64_t rows = 1, columns = 1, row_step = 0, column_step = 0;
  Dims batch;
};

Matrices matrices_of(const Value& value, bool transpose, bool is_left) {
  Matrices m;
  m.data = value.constant->as<float>().data();
  Dims shape = value.shape;
  if (shape.size() == 1) shape.insert(is_left ? shape.begin() : shape.end(), 1);
  const size_t rank = shape.size();
  m.rows = shape[rank - 2];
  m.columns = shape[rank - 1];
  m.row_step = m.columns;
  m.column_step = 1;
  if (transpose && value.shape.size() >= 2) {
    std::swap(m.rows, m.columns);
    std::swap(m.row_step, m.column_step);
  }
  m.batch.assign(shape.begin(), shape.end() - 2);
  return m;
}

std::vector<int64_t> batch_offsets(const Matrices& m, const Dims& batch) {
  std::vector<int64_t> result;
  for_each_offset(broadcast_offsets(m.batch, batch),
                  [&](size_t, int64_t offset) { result.push_back(offset * m.rows * m.columns); });
  return result;
}

void multiply(const Matrices& a, const Matrices& b, const float* left, const float* right,
              float alpha, float* out) {
  for (int64_t row = 0; row < a.rows; ++row) {
    for (int64_t column = 0; column < b.columns; ++column) {
      double sum = 0;
      for (int64_t k = 0; k < a.columns; ++k) {
        sum += static_cast<double>(left[row * a.row_step + k * a.column_step]) *
               right[k * b.row_step + column * b.column_step];
      }
      *out++ = static_cast<float>(alpha * sum);
    }
  }
}

}  // namespace

Status evaluate_matmul(const graph::MatMul& op, std::span<const Value* const> inputs,
                       const MutableConstant& output) {
  const auto is_float = [](const Value* input) {
    return input == nullptr || input->type == DataType::kFloat32;
  };
  if (!std::ranges::all_of(inputs, is_float)) {
    return unsupported("MatMul is computed on FLOAT32 constants only");
  }
  const Matrices a = matrices_of(*inputs[0], op.transpose_a, true);
  const Matrices b = matrices_of(*inputs[1], op.transpose_b, false);
  const auto out = output.as<float>();
  const int64_t sizes[] = {static_cast<int64_t>(out.size()), a.columns};
  if (checked_product(sizes).value_or(kMaxProducts + 1) > kMaxProducts) {
    return unsupported("the product of the two constants is too large to compute ahead of time");
  }
  MILLRACE_ASSIGN_OR_RETURN(const Dims batch, graph::broadcast(a.batch, b.batch));
  const auto left = batch_offsets(a, batch);
  const auto right = batch_offsets(b, batch);
  for (size_t i = 0; i < left.size(); ++i) {
    multiply(a, b, a.data + left[i], b.data + right[i], op.alpha,
             out.data() + i * static_cast<size_t>(a.rows * b.columns));
  }
  if (inputs.size() > 2 && inputs[2] != nullptr) {
    const auto bias = inputs[2]->constant->as<float>();
    for_each_offset(broadcast_offsets(inputs[2]->shape, output.value.shape),
                    [&](size_t position, int64_t offset) { out[position] += bias[offset]; });
  }
  for (float& x : out) x = apply(op.activation, x);
  return {};
}

}  // namespace millrace::lowering
