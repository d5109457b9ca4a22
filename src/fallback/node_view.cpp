#include "fallback/node_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace millrace::fallback {

template <class T>
const T* NodeView::find(const char* name) const noexcept {
  const auto entry =
      std::ranges::find(op_.attributes, std::string_view(name), &graph::Attribute::name);
  return entry == op_.attributes.end() ? nullptr : std::get_if<T>(&entry->value);
}

int64_t NodeView::integer(const char* name, int64_t absent) const noexcept {
  const auto* value = find<int64_t>(name);
  return value != nullptr ? *value : absent;
}

float NodeView::real(const char* name, float absent) const noexcept {
  const auto* value = find<float>(name);
  return value != nullptr ? *value : absent;
}

std::string NodeView::text(const char* name, const char* absent) const {
  const auto* value = find<std::string>(name);
  return value != nullptr ? *value : absent;
}

const Dims* NodeView::integers(const char* name) const noexcept {
  return find<Dims>(name);
}

const std::vector<float>* NodeView::reals(const char* name) const noexcept {
  return find<std::vector<float>>(name);
}

const std::vector<std::string>* NodeView::texts(const char* name) const noexcept {
  return find<std::vector<std::string>>(name);
}

Status Inference::require_elements(size_t index) const {
  if (in(index).data != nullptr) return {};
  asked_.push_back(index);
  return unsupported(fmt::format("input {} is not a constant", index));
}

Result<Dims> Inference::known_integers(size_t index) const {
  const TensorView& operand = in(index);
  const bool is_long = operand.type == DataType::kInt64;
  if (!is_long && operand.type != DataType::kInt32) {
    return invalid_argument(
        fmt::format("input {} is {}, not INT64 or INT32", index, tensor::to_string(operand.type)));
  }
  MILLRACE_RETURN_IF_ERROR(require_elements(index));
  if (is_long) return Dims(operand.as<int64_t>().begin(), operand.as<int64_t>().end());
  return Dims(operand.as<int32_t>().begin(), operand.as<int32_t>().end());
}

}  // namespace millrace::fallback
