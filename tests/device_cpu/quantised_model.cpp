#include "tests/device_cpu/quantised_model.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "base/process/topology.h"

namespace millrace::device::cpu {

void QuantisedModel::check(graph::ValueId result, float steps) {
  const auto by_integers = check_numbers(result, steps);
  if (by_integers == nullptr || !topology().features.avx512_vnni) return;
  EXPECT_EQ(count_steps(*by_integers, "Quantise"), inputs_.size());
  EXPECT_EQ(count_steps(*by_integers, "Dequantise"), 1u);
}

std::shared_ptr<const Program> QuantisedModel::check_numbers(graph::ValueId result, float steps) {
  builder.output(builder.node(graph::Requantise{}, {result}));
  const auto model = builder.build();
  const auto by_integers = load(model);
  setenv("MILLRACE_NO_VNNI", "1", 1);
  const auto by_numbers = load(model);
  unsetenv("MILLRACE_NO_VNNI");
  const Tensor actual = run(*by_integers, inputs_)[0], expected = run(*by_numbers, inputs_)[0];
  [&] {
    ASSERT_EQ(actual.data.size(), expected.data.size());
    for (size_t i = 0; i < actual.data.size(); ++i)
      ASSERT_LE(std::fabs(actual.data[i] - expected.data[i]), step_ * (steps + 0.001f))
          << "element " << i;
  }();
  if (::testing::Test::HasFatalFailure()) return nullptr;
  EXPECT_NE(*std::ranges::min_element(actual.data), *std::ranges::max_element(actual.data));
  return by_integers;
}

}  // namespace millrace::device::cpu
