#include "ranks/element.h"

#include <fmt/format.h>

#include <array>

namespace millrace::ranks {
namespace {

constexpr auto kTexts = std::to_array<std::string_view>({
#define MILLRACE_X(enumerator, text, bytes) text,
    MILLRACE_RANKS_ELEMENTS(MILLRACE_X)
#undef MILLRACE_X
});

constexpr auto kSizes = std::to_array<size_t>({
#define MILLRACE_X(enumerator, text, bytes) bytes,
    MILLRACE_RANKS_ELEMENTS(MILLRACE_X)
#undef MILLRACE_X
});

}  // namespace

std::string_view to_string(Element element) noexcept {
  const auto index = static_cast<size_t>(element);
  return index < kTexts.size() ? kTexts[index] : "UNKNOWN";
}

size_t size_of(Element element) noexcept {
  const auto index = static_cast<size_t>(element);
  return index < kSizes.size() ? kSizes[index] : 0;
}

Result<Element> element_of(tensor::DataType type) {
  for (size_t i = 0; i < kTexts.size(); ++i)
    if (kTexts[i] == tensor::to_string(type)) return static_cast<Element>(i);
  return unsupported(fmt::format("elements of type {} cannot be reduced", tensor::to_string(type)));
}

std::string_view to_string(Reduction reduction) noexcept {
  switch (reduction) {
    case Reduction::kSum:
      return "sum";
    case Reduction::kMax:
      return "max";
    case Reduction::kMin:
      return "min";
  }
  return "unknown";
}

}  // namespace millrace::ranks
