// Products of matrices are right in every layout for which find_product() gives a primitive, and it
// gives one for all plain factors. Elements are small integers, so results are exact.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <unordered_map>
#include <vector>

#include "device/cpu/dnnl/attributes.h"
#include "device/cpu/dnnl/product.h"
#include "tests/random_graphs/random.h"

namespace millrace::device::cpu {
namespace {

using test::Random;

enum class Numbers { kFloating, kIntegers, kIntegersWithZeroPoints };

constexpr int32_t kLeftZeroPoint = 3, kRightZeroPoint = -2;

struct Layout {
  Dims dims, strides;  // in elements

  Desc desc(ElementType type) const { return {dims, type, strides}; }

  size_t extent() const {
    int64_t last = 0;
    for (size_t i = 0; i < dims.size(); ++i) last += (dims[i] - 1) * strides[i];
    return static_cast<size_t>(last) + 1;
  }

  // Returns the place of an element; an index of a dimension of size 1 is ignored.
  size_t place(const Dims& index) const {
    int64_t place = 0;
    for (size_t i = 0; i < dims.size(); ++i)
      if (dims[i] > 1) place += index[i] * strides[i];
    return static_cast<size_t>(place);
  }
};

Layout laid_out(const Dims& dims, const std::vector<size_t>& order, Random* gaps = nullptr) {
  Layout layout{dims, Dims(dims.size())};
  int64_t stride = 1;
  for (size_t i = order.size(); i-- > 0;) {
    layout.strides[order[i]] = stride;
    stride *= dims[order[i]];
    if (gaps != nullptr && gaps->chance(20)) stride *= gaps->between(1, 3);
  }
  return layout;
}

std::vector<size_t> in_order(size_t rank) {
  std::vector<size_t> order(rank);
  std::iota(order.begin(), order.end(), size_t{0});
  return order;
}

Layout random_layout(Random& random, const Dims& dims) {
  std::vector<size_t> order = in_order(dims.size());
  if (random.chance(30))
    random.shuffle(order);
  else if (random.chance(50))
    std::swap(order[order.size() - 1], order[order.size() - 2]);
  return laid_out(dims, order, &random);
}

// A product of random shapes, with small dimensions and many of size 1.
struct Shapes {
  Dims a, b, y;

  explicit Shapes(Random& random) {
    const auto size = [&] { return random.chance(30) ? 1 : random.between(1, 20); };
    const int64_t rows = size(), columns = size(), depth = size();
    for (int64_t left = random.between(0, 3); left > 0; --left) {
      const int64_t dim = random.between(1, 3);
      y.push_back(dim);
      a.push_back(random.chance(20) ? 1 : dim);
      b.push_back(random.chance(20) ? 1 : dim);
      y.back() = std::max(a.back(), b.back());
    }
    a.insert(a.end(), {rows, depth});
    b.insert(b.end(), {depth, columns});
    y.insert(y.end(), {rows, columns});
  }
};

template <class Element>
std::vector<Element> random_elements(Random& random, size_t count, int64_t low) {
  std::vector<Element> elements(count);
  for (Element& element : elements) element = static_cast<Element>(random.between(low, low + 8));
  return elements;
}

// Sums up products of the elements less the zero points.
template <class Left, class Right>
float sum(const Layout& a, const std::vector<Left>& left, int32_t left_zero, const Layout& b,
          const std::vector<Right>& right, int32_t right_zero, Dims index) {
  Dims a_index = index, b_index = std::move(index);
  const size_t rank = a_index.size();
  float result = 0;
  for (int64_t k = 0; k < a.dims.back(); ++k) {
    a_index[rank - 1] = b_index[rank - 2] = k;
    result += (static_cast<float>(left[a.place(a_index)]) - static_cast<float>(left_zero)) *
              (static_cast<float>(right[b.place(b_index)]) - static_cast<float>(right_zero));
  }
  return result;
}

dnnl::primitive_attr own_scratchpad() {
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return attributes;
}

// Runs a product and checks its results. Returns false if there is none.
template <class Left, class Right>
bool check(Random& random, const Layout& a, ElementType left_type, const Layout& b,
           ElementType right_type, const Layout& y, Numbers numbers) {
  const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  const dnnl::stream stream(engine);
  const bool has_zero_points = numbers == Numbers::kIntegersWithZeroPoints;
  IntegerAttributes attributes(own_scratchpad(), {1});
  const int32_t left_zero = has_zero_points ? kLeftZeroPoint : 0;
  const int32_t right_zero = has_zero_points ? kRightZeroPoint : 0;
  attributes.set_zero_point(DNNL_ARG_SRC, left_zero);
  attributes.set_zero_point(DNNL_ARG_WEIGHTS, right_zero);
  const bool is_floating = numbers == Numbers::kFloating;
  const dnnl::matmul::primitive_desc product =
      find_product(engine, is_floating ? own_scratchpad() : attributes.get(),
                   {a.desc(left_type), b.desc(right_type), {}, y.desc(ElementType::f32)});
  if (product.get(true) == nullptr) return false;
  auto left = random_elements<Left>(random, a.extent(), 0);
  auto right = random_elements<Right>(random, b.extent(), -4);
  std::vector<float> results(y.extent());
  std::unordered_map<int, dnnl::memory> arguments = {
      {DNNL_ARG_SRC, {a.desc(left_type), engine, left.data()}},
      {DNNL_ARG_WEIGHTS, {b.desc(right_type), engine, right.data()}},
      {DNNL_ARG_DST, {y.desc(ElementType::f32), engine, results.data()}},
      {DNNL_ARG_SCRATCHPAD, {product.scratchpad_desc(), engine}}};
  for (const IntegerAttributes::Constant& constant : attributes.constants())
    if (!is_floating)
      arguments[constant.argument] =
          dnnl::memory(constant.desc, engine, const_cast<std::byte*>(constant.elements.data()));
  dnnl::matmul(product).execute(stream, arguments);
  Dims index(y.dims.size());
  for (size_t i = 0; i < results.size(); ++i) {
    auto left_over = static_cast<int64_t>(i);
    for (size_t dim = index.size(); dim-- > 0; left_over /= y.dims[dim])
      index[dim] = left_over % y.dims[dim];
    EXPECT_EQ(results[y.place(index)], sum(a, left, left_zero, b, right, right_zero, index))
        << "element " << i << ", " << product.impl_info_str() << ", strides "
        << ::testing::PrintToString(a.strides) << " and " << ::testing::PrintToString(b.strides);
    if (::testing::Test::HasFailure()) break;
  }
  return true;
}

bool check(Random& random, const Layout& a, const Layout& b, const Layout& y, Numbers numbers) {
  if (numbers == Numbers::kFloating)
    return check<float, float>(random, a, ElementType::f32, b, ElementType::f32, y, numbers);
  return check<uint8_t, int8_t>(random, a, ElementType::u8, b, ElementType::s8, y, numbers);
}

class Products : public ::testing::TestWithParam<Numbers> {};

TEST_P(Products, AreRightInEveryLayoutThatHasOne) {
  Random random(1);
  int found = 0;
  for (int i = 0; i < 500 && !HasFailure(); ++i) {
    const Shapes shapes(random);
    SCOPED_TRACE(::testing::PrintToString(shapes.a) + " times " +
                 ::testing::PrintToString(shapes.b));
    const Layout a = random_layout(random, shapes.a), b = random_layout(random, shapes.b);
    found += static_cast<int>(
        check(random, a, b, laid_out(shapes.y, in_order(shapes.y.size())), GetParam()));
  }
  EXPECT_GT(found, 150);
}

TEST_P(Products, ExistForAllPlainFactors) {
  Random random(2);
  for (int i = 0; i < 150 && !HasFailure(); ++i) {
    const Shapes shapes(random);
    SCOPED_TRACE(::testing::PrintToString(shapes.a) + " times " +
                 ::testing::PrintToString(shapes.b));
    std::vector<size_t> order = in_order(shapes.a.size());
    const Layout y = laid_out(shapes.y, order), a = laid_out(shapes.a, order);
    if (random.chance(50)) std::swap(order[order.size() - 1], order[order.size() - 2]);
    EXPECT_TRUE(check(random, a, laid_out(shapes.b, order), y, GetParam()));
  }
}

INSTANTIATE_TEST_SUITE_P(All, Products,
                         ::testing::Values(Numbers::kFloating, Numbers::kIntegers,
                                           Numbers::kIntegersWithZeroPoints));

}  // namespace
}  // namespace millrace::device::cpu
