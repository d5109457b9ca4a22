#include "tensor/layout.h"

#include <array>

#include "tensor/names.h"

namespace millrace {
namespace {

constexpr std::array<std::string_view, tensor::kLayoutCount> kTexts = {
#define MILLRACE_X(enumerator, number, text) text,
    MILLRACE_LAYOUTS(MILLRACE_X)
#undef MILLRACE_X
};

constexpr std::array<uint32_t, 4> kIdentity = {0, 1, 2, 3};
constexpr std::array<uint32_t, 3> kChannelsLast3 = {0, 2, 1};
constexpr std::array<uint32_t, 4> kChannelsLast4 = {0, 2, 3, 1};

}  // namespace

std::string_view to_string(Layout layout) noexcept {
  const auto index = static_cast<size_t>(layout);
  return kTexts[index < kTexts.size() ? index : 0];
}

namespace tensor {

Result<Layout> parse_layout(std::string_view text) {
  MILLRACE_ASSIGN_OR_RETURN(const size_t index, find_name(text, kTexts, "layout"));
  return static_cast<Layout>(index);
}

uint32_t channel_block(Layout layout) noexcept {
  switch (layout) {
    case Layout::kHcwnc4:
      return 4;
    case Layout::kHcwnc8:
      return 8;
    case Layout::kHcwnc16:
      return 16;
    default:
      return 0;
  }
}

std::span<const uint32_t> plain_order(Layout layout) noexcept {
  switch (layout) {
    case Layout::kNc:
      return std::span(kIdentity).first(2);
    case Layout::kNch:
    case Layout::kNhw:
      return std::span(kIdentity).first(3);
    case Layout::kNhc:
    case Layout::kNwc:
      return kChannelsLast3;
    case Layout::kNchw:
      return kIdentity;
    case Layout::kNhwc:
      return kChannelsLast4;
    default:
      return {};
  }
}

}  // namespace tensor
}  // namespace millrace
