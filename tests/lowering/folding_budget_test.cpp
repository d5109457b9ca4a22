#include "lowering/evaluate/folding_budget.h"

#include <gtest/gtest.h>

#include <cmath>

namespace millrace::lowering {
namespace {

using graph::Dims;
using graph::Value;
using tensor::DataType;

// Returns the work of an operator on tensors of these shapes.
double work_of(const graph::Operator& op, const std::vector<Dims>& shapes, const Dims& output) {
  std::vector<Value> values;
  for (const Dims& shape : shapes) values.push_back({"", DataType::kFloat32, shape, {}});
  std::vector<const Value*> operands;
  for (const Value& value : values) operands.push_back(&value);
  const graph::ValueType type{DataType::kFloat32, output};
  return evaluation_work(op, operands, {&type, 1});
}

graph::Fallback einsum(const std::string& equation) {
  return {"Einsum", {{"equation", equation}}};
}

TEST(EvaluationWork, ElementsThatAreReadCountAsThoseThatAreWritten) {
  const graph::Operator sum = graph::Reduce{graph::ReduceKind::kSum, {0}, true};
  EXPECT_GE(work_of(sum, {{1'000'000}}, {1}), 1e6);
  EXPECT_LE(work_of(sum, {{1'000'000}}, {1}), 1.1e6);
}

TEST(EvaluationWork, ProductsCountTheirMultiplications) {
  EXPECT_GE(work_of(graph::MatMul{}, {{100, 2000}, {2000, 50}}, {100, 50}), 1e7);
}

TEST(EvaluationWork, AnEinsumCountsEveryCombinationOfItsIndices) {
  EXPECT_GE(work_of(einsum("ij,kl,mn->"), {{40, 40}, {40, 40}, {40, 40}}, {}), std::pow(40, 6));
  EXPECT_GE(work_of(einsum("...ij, ...jk -> ...ik"), {{7, 1, 10, 20}, {9, 20, 30}}, {7, 9, 10, 30}),
            7.0 * 9 * 10 * 20 * 30);
  EXPECT_LE(work_of(einsum("ij,jk->ik"), {{10, 20}, {20, 30}}, {10, 30}), 4.0 * 10 * 20 * 30);
  EXPECT_GE(work_of(einsum("ii"), {{10, 10}}, {}), 10);
}

TEST(EvaluationWork, ComparisonsOfEachWithEachCountAsSuch) {
  EXPECT_GE(work_of(graph::Fallback{"Gemm", {}}, {{500, 500}, {500, 500}}, {500, 500}), 1.25e8);
  EXPECT_LE(work_of(graph::Fallback{"Abs", {}}, {{500, 500}}, {500, 500}), 1e6);
}

TEST(EvaluationWork, ProductsOfOtherDomainsCountTheirMultiplications) {
  // 50 words of 20 characters, 30 filters over 3 of them, and 10 numbers for each of 90 characters.
  EXPECT_GE(work_of(graph::Fallback{"com.microsoft.WordConvEmbedding", {}},
                    {{50, 20}, {30, 1, 3, 10}, {30}, {90, 10}}, {50, 30}),
            50.0 * 18 * 30 * 3 * 10);
  // 100 tokens, and a state of 64 by 64.
  EXPECT_GE(work_of(graph::Fallback{"com.microsoft.LinearAttention", {}},
                    {{1, 100, 64}, {1, 100, 64}, {1, 100, 64}}, {1, 100, 64}),
            100.0 * 64 * 64);
  EXPECT_LE(work_of(graph::Fallback{"com.microsoft.Gelu", {}}, {{500, 500}}, {500, 500}), 1e6);
}

TEST(FoldingBudget, IsUsedUp) {
  FoldingBudget budget;
  const double half = 0.6 * std::pow(2, 32);
  EXPECT_TRUE(budget.take_work(half));
  EXPECT_FALSE(budget.take_work(half));
  EXPECT_TRUE(budget.take_work(half / 2)) << "what is refused takes nothing";
}

TEST(FoldingBudget, GrowsWithTheModel) {
  FoldingBudget large(size_t{1} << 30), small;
  EXPECT_TRUE(large.take_work(1e11));
  EXPECT_FALSE(small.take_work(1e11));
  EXPECT_TRUE(large.has_bytes(size_t{8} << 30));
  EXPECT_FALSE(small.has_bytes(size_t{8} << 30));
}

TEST(FoldingBudget, CountsNewConstants) {
  FoldingBudget budget;
  for (int i = 0; i < 8; ++i) EXPECT_TRUE(budget.take_floats(size_t{1} << 25));
  EXPECT_FALSE(budget.take_floats(1)) << "a GiB of them";
}

}  // namespace
}  // namespace millrace::lowering
