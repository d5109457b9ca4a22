#include "vartx/postprocess/labels.h"

#include <fmt/format.h>

#include <stdexcept>

#include "base/value_or_throw.h"
#include "io/file.h"

namespace millrace::vartx {

Labels::Labels(const std::string& path) {
  if (path.empty()) return;
  lines_ = value_or_throw(io::read_lines(path), "label-file-path");
  if (lines_.empty())
    throw std::invalid_argument(fmt::format("label-file-path: {} has no labels", path));
}

std::string Labels::of(uint32_t class_id) const {
  if (lines_.empty()) return {};
  return class_id < lines_.size() ? lines_[class_id] : std::to_string(class_id);
}

}  // namespace millrace::vartx
