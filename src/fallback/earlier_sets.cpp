#include "fallback/earlier_sets.h"

#include <algorithm>
#include <string_view>

namespace millrace::fallback {
namespace {

struct EarlierDefault {
  std::string_view op;
  int before;  // the operator set that changed it
  const char* attribute;
  graph::Attribute::Value value;
};

const EarlierDefault* earlier_default(const graph::Fallback& op, int set) {
  static const EarlierDefault kDefaults[] = {
      {"DFT", 20, "axis", int64_t{1}},
      {"RoiAlign", 16, "coordinate_transformation_mode", std::string("output_half_pixel")},
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
  op.attributes.insert(place, {earlier->attribute, earlier->value});
}

}  // namespace millrace::fallback
