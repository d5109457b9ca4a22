// A descriptor with another type puts every element at the same place.
#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "device/cpu/dnnl/desc.h"
#include "device/cpu/dnnl/reorder.h"

namespace millrace::device::cpu {
namespace {

// Returns the numbers 1, 2, 3 ... of the elements in C order, as they lie in memory.
template <class Element>
std::vector<Element> elements_as_they_lie(const Desc& layout) {
  const Desc plain = plain_desc(layout.dims(), layout.data_type());
  std::vector<Element> elements(plain.get_size() / sizeof(Element));
  std::iota(elements.begin(), elements.end(), Element{1});
  std::vector<Element> result(layout.get_size() / sizeof(Element));
  LayoutCopy(plain, layout)
      .run(reinterpret_cast<const std::byte*>(elements.data()),
           reinterpret_cast<std::byte*>(result.data()));
  return result;
}

class Types : public ::testing::TestWithParam<Dims> {};

TEST_P(Types, LieAlike) {
  const ElementType type = ElementType::s32;
  std::vector<Desc> layouts = {plain_desc(GetParam(), type), channels_last_desc(GetParam(), type)};
  for (const int block : {4, 8, 16}) {
    layouts.push_back(blocked_desc(GetParam(), type, block));
    layouts.push_back(hcwnc_desc(GetParam(), type, block));
  }
  for (const Desc& layout : layouts) {
    const auto numbers = elements_as_they_lie<int32_t>(layout);
    EXPECT_EQ(elements_as_they_lie<float>(with_type(layout, ElementType::f32)),
              std::vector<float>(numbers.begin(), numbers.end()))
        << to_string(layout);
  }
}

INSTANTIATE_TEST_SUITE_P(Of, Types,
                         ::testing::Values(Dims{1, 4, 4, 13}, Dims{1, 3, 1, 7}, Dims{2, 17, 3, 5},
                                           Dims{1, 1, 1, 1}, Dims{3, 40, 2, 1}, Dims{1, 9, 6, 1}));

}  // namespace
}  // namespace millrace::device::cpu
