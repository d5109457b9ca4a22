#include "fallback/earlier_sets.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace millrace::fallback {
namespace {

struct EarlierDefault {
  std::string_view op;
  int before;  // the operator set that changed the default
  const char* attribute;
  std::variant<int64_t, const char*> value;
};

const EarlierDefault* earlier_default(const graph::Fallback& op, int set) {
  static constexpr EarlierDefault kDefaults[] = {
      {"DFT", 20, "axis", int64_t{1}},
      {"RoiAlign", 16, "coordinate_transformation_mode", "output_half_pixel"},
  };
  const auto found = std::ranges::find_if(kDefaults, [&](const EarlierDefault& entry) {
    return entry.op == op.name && set < entry.before;
  });
  return found == std::end(kDefaults) ? nullptr : found;
}

}  // namespace

void state_earlier_defaults(graph::Fallback& op, int set) {
  const EarlierDefault* earlier = earlier_default(op, set);
  if (earlier == nullptr) return;
  const auto place = std::ranges::lower_bound(op.attributes, std::string_view(earlier->attribute),
                                              {}, &graph::Attribute::name);
  if (place != op.attributes.end() && place->name == earlier->attribute) return;
  const auto* const text = std::get_if<const char*>(&earlier->value);
  graph::Attribute::Value value = text != nullptr
                                      ? graph::Attribute::Value(std::string(*text))
                                      : graph::Attribute::Value(std::get<int64_t>(earlier->value));
  op.attributes.insert(place, {earlier->attribute, std::move(value)});
}

}  // namespace millrace::fallback
