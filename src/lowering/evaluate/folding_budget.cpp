// The estimate of work. It is in double, since the counts that a hostile model asks for overflow
// integers. Most operators do constant work per element; for those that compare or multiply pairs
// of elements it is the square of the elements, for MatMul and Einsum the number of
// multiplications.
#include "lowering/evaluate/folding_budget.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <variant>
#include <vector>

namespace millrace::lowering {
namespace {

using graph::Value;
using Operands = std::span<const Value* const>;

double elements_of(const graph::Dims& shape) {
  double count = 1;
  for (const int64_t dim : shape) count *= static_cast<double>(dim);
  return count;
}

// Counts the elements of all operands and outputs.
double elements_of_all(Operands operands, std::span<const graph::ValueType> outputs) {
  double count = 1;
  for (const Value* operand : operands)
    if (operand != nullptr) count += elements_of(operand->shape);
  for (const graph::ValueType& output : outputs) count += elements_of(output.shape);
  return count;
}

double elements_of_attributes(const graph::Fallback& op) {
  double count = 0;
  for (const graph::Attribute& attribute : op.attributes)
    count += std::visit(
        [](const auto& value) {
          if constexpr (requires { value.size(); }) return static_cast<double>(value.size());
          return 1.0;
        },
        attribute.value);
  return count;
}

// Whether the work of a Fallback per element is not constant: sums over windows, products,
// comparisons of all pairs. None of these takes more than one step for each pair of elements that
// it reads or writes.
bool compares_elements(std::string_view name) {
  static constexpr std::array<std::string_view, 34> kNames = {"AveragePool",
                                                              "Conv",
                                                              "ConvInteger",
                                                              "ConvTranspose",
                                                              "DFT",
                                                              "DeformConv",
                                                              "Det",
                                                              "GRU",
                                                              "Gemm",
                                                              "LRN",
                                                              "LSTM",
                                                              "LpPool",
                                                              "MatMul",
                                                              "MatMulInteger",
                                                              "MaxPool",
                                                              "MaxRoiPool",
                                                              "NonMaxSuppression",
                                                              "QLinearConv",
                                                              "QLinearMatMul",
                                                              "RNN",
                                                              "Resize",
                                                              "RoiAlign",
                                                              "STFT",
                                                              "TfIdfVectorizer",
                                                              "TopK",
                                                              "Unique",
                                                              "Upsample",
                                                              "com.microsoft.Inverse",
                                                              "com.microsoft.LinearAttention",
                                                              "com.microsoft.MatMulNBits",
                                                              "com.microsoft.MoE",
                                                              "com.microsoft.NGramRepeatBlock",
                                                              "com.microsoft.QMoE",
                                                              "com.microsoft.WordConvEmbedding"};
  return std::ranges::find(kNames, name) != kNames.end() || name.starts_with("ai.onnx.ml.") ||
         name.starts_with("millrace.");
}

// The sizes of the indices of an Einsum: by letter, and for the dimensions of an ellipsis ("..."),
// counted from the last one.
struct Indices {
  std::array<double, 256> letters{};
  std::vector<double> hidden;

  void add(double& size, int64_t dim) { size = std::max(size, static_cast<double>(dim)); }

  void add_term(std::string_view term, const graph::Dims& shape) {
    const auto letters_in_term = static_cast<size_t>(
        std::ranges::count_if(term, [](char c) { return c != '.' && c != ' '; }));
    const size_t behind = shape.size() - std::min(shape.size(), letters_in_term);
    size_t dimension = 0;
    for (size_t i = 0; i < term.size() && dimension < shape.size(); ++i) {
      if (term[i] == ' ') continue;
      if (term[i] != '.') {
        add(letters[static_cast<unsigned char>(term[i])], shape[dimension++]);
        continue;
      }
      hidden.resize(std::max(hidden.size(), behind));
      for (size_t left = behind; left > 0; --left) add(hidden[left - 1], shape[dimension++]);
      i = term.find_last_of('.');
    }
  }

  // Counts the combinations of all indices, for each of which the kernel multiplies once.
  double combinations() const {
    double product = 1;
    for (const double size : letters) product *= std::max(size, 1.0);
    for (const double size : hidden) product *= std::max(size, 1.0);
    return product;
  }
};

double work_of_einsum(const graph::Fallback& op, Operands operands) {
  std::string_view equation;
  for (const graph::Attribute& attribute : op.attributes)
    if (const auto* text = std::get_if<std::string>(&attribute.value)) equation = *text;
  equation = equation.substr(0, equation.find("->"));
  Indices indices;
  for (const Value* operand : operands) {
    const size_t comma = equation.find(',');
    if (operand != nullptr) indices.add_term(equation.substr(0, comma), operand->shape);
    equation.remove_prefix(comma == std::string_view::npos ? equation.size() : comma + 1);
  }
  return indices.combinations() * static_cast<double>(operands.size() + 1);
}

double work_of_product(const graph::MatMul& op, Operands operands,
                       std::span<const graph::ValueType> outputs) {
  const graph::Dims& a = operands[0]->shape;
  if (a.empty() || outputs.empty()) return 0;
  const int64_t sum = op.transpose_a && a.size() > 1 ? a[a.size() - 2] : a.back();
  return elements_of(outputs[0].shape) * static_cast<double>(sum);
}

}  // namespace

double evaluation_work(const graph::Operator& op, Operands operands,
                       std::span<const graph::ValueType> outputs) {
  const double elements = elements_of_all(operands, outputs);
  if (const auto* product = std::get_if<graph::MatMul>(&op))
    return elements + work_of_product(*product, operands, outputs);
  const auto* fallback = std::get_if<graph::Fallback>(&op);
  if (fallback == nullptr) return elements;
  if (fallback->name == "Einsum") return elements + work_of_einsum(*fallback, operands);
  const double all = elements + elements_of_attributes(*fallback);
  return compares_elements(fallback->name) ? all * all : all;
}

}  // namespace millrace::lowering
