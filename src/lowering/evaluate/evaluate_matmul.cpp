// MatMul of constants: products with sums in double, over a broadcast batch.
#include <algorithm>

#include "graph/reference/index_offsets.h"
#include "graph/reference/matrix_product.h"
#include "graph/shape.h"
#include "lowering/evaluate/evaluate_math.h"

namespace millrace::lowering {
namespace {

namespace reference = graph::reference;
using graph::Dims;
using graph::Value;
using Matrix = graph::reference::Matrix<float>;
using tensor::DataType;

// The most multiplications of a matrix product that is folded: about a second of work.
constexpr int64_t kMaxProducts = int64_t{1} << 30;

// One operand of a matrix product: its first matrix, and the shape of its batch.
struct Matrices {
  Matrix first;
  Dims batch;
};

// A vector is a row on the left and a column on the right.
Matrices matrices_of(const Value& value, bool transpose, bool is_left) {
  Dims shape = value.shape;
  if (shape.size() == 1) shape.insert(is_left ? shape.begin() : shape.end(), 1);
  const auto rows = static_cast<size_t>(shape[shape.size() - 2]);
  const auto columns = static_cast<size_t>(shape.back());
  return {Matrix::dense(value.constant->as<float>().data(), rows, columns,
                        transpose && value.shape.size() >= 2),
          Dims(shape.begin(), shape.end() - 2)};
}

// Returns the matrices of an operand that is broadcast to the batch.
std::vector<Matrix> broadcast_matrices(const Matrices& m, const Dims& batch) {
  std::vector<Matrix> result;
  reference::for_each_offset(
      reference::broadcast_offsets(m.batch, batch), [&](size_t, int64_t offset) {
        result.push_back(m.first);
        result.back().data += static_cast<size_t>(offset) * m.first.rows * m.first.columns;
      });
  return result;
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
  const int64_t sizes[] = {static_cast<int64_t>(out.size()), static_cast<int64_t>(a.first.columns)};
  if (checked_product(sizes).value_or(kMaxProducts + 1) > kMaxProducts) {
    return unsupported("the product of the two constants is too large to compute ahead of time");
  }
  MILLRACE_ASSIGN_OR_RETURN(const Dims batch, graph::broadcast(a.batch, b.batch));
  const auto left = broadcast_matrices(a, batch);
  const auto right = broadcast_matrices(b, batch);
  float* next = out.data();
  for (size_t i = 0; i < left.size(); ++i)
    reference::multiply(left[i], right[i],
                        [&](double sum) { *next++ = static_cast<float>(op.alpha * sum); });
  if (inputs.size() > 2 && inputs[2] != nullptr) {
    const auto bias = inputs[2]->constant->as<float>();
    reference::for_each_offset(
        reference::broadcast_offsets(inputs[2]->shape, output.value.shape),
        [&](size_t position, int64_t offset) { out[position] += bias[offset]; });
  }
  for (float& x : out) x = reference::value_of(op.activation, x);
  return {};
}

}  // namespace millrace::lowering
