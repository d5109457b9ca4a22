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

bool NodeView::has_attribute(const char* name) const noexcept {
  return std::ranges::find(op_.attributes, std::string_view(name), &graph::Attribute::name) !=
         op_.attributes.end();
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

Dims integers_of(const TensorView& operand) {
  if (operand.type == DataType::kInt64)
    return Dims(operand.as<int64_t>().begin(), operand.as<int64_t>().end());
  return Dims(operand.as<int32_t>().begin(), operand.as<int32_t>().end());
}

Status Inference::require_elements(size_t index) const {
  if (in(index).data != nullptr || in(index).elements() == 0) return {};
  asked_.push_back(index);
  return unsupported(fmt::format("input {} is not a constant", index));
}

Result<Dims> Inference::known_integers(size_t index) const {
  const DataType type = in(index).type;
  if (type != DataType::kInt64 && type != DataType::kInt32) {
    return invalid_argument(
        fmt::format("input {} is {}, expected INT64 or INT32", index, tensor::to_string(type)));
  }
  MILLRACE_RETURN_IF_ERROR(require_elements(index));
  return integers_of(in(index));
}

Result<int64_t> Inference::known_integer(size_t index) const {
  MILLRACE_ASSIGN_OR_RETURN(const Dims elements, known_integers(index));
  if (elements.size() == 1) return elements[0];
  return invalid_argument(fmt::format("input {} must have one element", index));
}

}  // namespace millrace::fallback
