// The ONNX operators on sequences of tensors (SequenceAt, SequenceInsert, SplitToSequence, ...),
// for sequences that loops carry. A sequence is an immutable list of shared tensors, so an operator
// copies the list and not the elements.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "graph/shape.h"
#include "lowering/loops/loops.h"
#include "runtime/dynamic/control_flow.h"

namespace millrace::runtime {
namespace {

using Results = Result<std::vector<RunValue>>;

// The maximum length of a sequence, more than any model has. Each change copies the list of
// members.
constexpr size_t kMostMembers = size_t{1} << 16;

Results one_result(RunValue value) {
  std::vector<RunValue> results;
  results.push_back(std::move(value));
  return results;
}

Status check_length(size_t members) {
  if (members <= kMostMembers) return {};
  return unsupported(
      fmt::format("a sequence of more than {} tensors is not supported", kMostMembers));
}

Results sequence(Members members) {
  MILLRACE_RETURN_IF_ERROR(check_length(members.size()));
  RunValue value;
  value.members = std::make_shared<const Members>(std::move(members));
  return one_result(std::move(value));
}

// Computes one node. Inputs are numbered as in the ONNX standard.
class Operation {
 public:
  Operation(EnclosingRun& run, const network::Node& node) : run_(run), node_(node) {}

  Results compute() {
    const std::string_view type = node_.type;
    if (type == "SequenceEmpty") return sequence({});
    if (type == "SequenceConstruct") return construct();
    if (type == "SequenceAt") return read_at();
    if (type == "SequenceErase") return erase();
    if (type == "SequenceInsert") return insert();
    if (type == "SequenceLength") return length();
    if (type == "ConcatFromSequence") return join();
    if (type == "SplitToSequence") return split();
    if (type == "Identity") return pass();
    return unsupported("it is not an operator on sequences");
  }

 private:
  bool has(size_t index) const {
    return index < node_.inputs.size() && !node_.inputs[index].empty();
  }

  Result<RunValue> operand(size_t index) {
    if (!has(index)) return invalid_argument(fmt::format("its input {} is missing", index));
    return run_.value(node_.inputs[index]);
  }

  Result<std::shared_ptr<const RunValue>> tensor(size_t index) {
    const Result<RunValue> value = operand(index);
    if (!value.ok()) return value.status();
    if (value->members != nullptr)
      return invalid_argument(
          fmt::format("its input '{}' is a sequence, expected a tensor", node_.inputs[index]));
    return std::make_shared<const RunValue>(*value);
  }

  Result<std::shared_ptr<const Members>> members(size_t index) {
    const Result<RunValue> value = operand(index);
    if (!value.ok()) return value.status();
    if (value->members == nullptr)
      return invalid_argument(
          fmt::format("its input '{}' is a tensor, expected a sequence", node_.inputs[index]));
    return value->members;
  }

  int64_t integer(std::string_view name, int64_t otherwise) const {
    const Result<int64_t> stated = lowering::integer_of(node_, name);
    return stated.ok() ? *stated : otherwise;
  }

  // Returns the position that operand `index` holds, in a list of `count` members. Negative
  // positions count from the end.
  Result<size_t> position(size_t index, size_t count) {
    MILLRACE_ASSIGN_OR_RETURN(const RunValue value, operand(index));
    MILLRACE_ASSIGN_OR_RETURN(const int64_t stated, read_integer(value));
    const auto size = static_cast<int64_t>(count);
    if (stated < -size || stated >= size)
      return invalid_argument(
          fmt::format("its position {} is out of range for {} tensors", stated, size));
    return static_cast<size_t>(stated < 0 ? stated + size : stated);
  }

  static Result<int64_t> read_integer(const RunValue& value) {
    if (value.type == tensor::DataType::kInt32 && value.elements() == 1)
      return int64_t{*value.as<int32_t>()};
    return read_int64(value, "its position");
  }

  Results construct() {
    Members made;
    for (size_t i = 0; i < node_.inputs.size(); ++i) {
      MILLRACE_ASSIGN_OR_RETURN(made.emplace_back(), tensor(i));
    }
    return sequence(std::move(made));
  }

  Results read_at() {
    MILLRACE_ASSIGN_OR_RETURN(const auto list, members(0));
    MILLRACE_ASSIGN_OR_RETURN(const size_t at, position(1, list->size()));
    return one_result(*(*list)[at]);
  }

  // Erases the last member if no position is given.
  Results erase() {
    MILLRACE_ASSIGN_OR_RETURN(const auto list, members(0));
    if (list->empty()) return invalid_argument("its sequence is empty");
    size_t at = list->size() - 1;
    if (has(1)) {
      MILLRACE_ASSIGN_OR_RETURN(at, position(1, list->size()));
    }
    Members left = *list;
    left.erase(left.begin() + static_cast<ptrdiff_t>(at));
    return sequence(std::move(left));
  }

  // Inserts before a position; appends if none is given, or if it equals the number of members.
  Results insert() {
    MILLRACE_ASSIGN_OR_RETURN(const auto list, members(0));
    MILLRACE_ASSIGN_OR_RETURN(auto added, tensor(1));
    size_t at = list->size();
    if (has(2)) {
      MILLRACE_ASSIGN_OR_RETURN(const RunValue stated, operand(2));
      MILLRACE_ASSIGN_OR_RETURN(const int64_t number, read_integer(stated));
      if (number != static_cast<int64_t>(at)) {
        MILLRACE_ASSIGN_OR_RETURN(at, position(2, list->size()));
      }
    }
    Members longer = *list;
    longer.insert(longer.begin() + static_cast<ptrdiff_t>(at), std::move(added));
    return sequence(std::move(longer));
  }

  Results length() {
    MILLRACE_ASSIGN_OR_RETURN(const auto list, members(0));
    MILLRACE_ASSIGN_OR_RETURN(RunValue count, int64_value(static_cast<int64_t>(list->size())));
    return one_result(std::move(count));
  }

  Results join() {
    MILLRACE_ASSIGN_OR_RETURN(const auto list, members(0));
    if (list->empty()) return invalid_argument("its sequence is empty");
    std::vector<RunValue> parts;
    for (const auto& member : *list) parts.push_back(*member);
    const bool is_new = integer("new_axis", 0) != 0;
    const size_t rank = parts.front().shape.size() + (is_new ? 1 : 0);
    MILLRACE_ASSIGN_OR_RETURN(const size_t axis, graph::normalise_axis(integer("axis", 0), rank));
    MILLRACE_ASSIGN_OR_RETURN(
        RunValue joined, is_new ? join_parts(std::move(parts), axis) : concatenate(parts, axis));
    return one_result(std::move(joined));
  }

  // Returns the sizes of the parts into which a dimension of `size` is split: of 1, of the scalar
  // that the operand "split" holds (the last may be smaller), or of its list of sizes.
  Result<std::vector<size_t>> part_sizes(size_t size) {
    std::vector<size_t> sizes;
    int64_t each = 1;
    if (has(1)) {
      MILLRACE_ASSIGN_OR_RETURN(const RunValue stated, operand(1));
      if (stated.shape.size() == 1) return stated_sizes(stated, size);
      MILLRACE_ASSIGN_OR_RETURN(each, read_integer(stated));
      if (each < 1) return invalid_argument("its split must be a positive integer");
    }
    const auto step = static_cast<size_t>(each);
    MILLRACE_RETURN_IF_ERROR(check_length(size / step));
    for (size_t begin = 0; begin < size; begin += std::min(step, size - begin))
      sizes.push_back(std::min(step, size - begin));
    return sizes;
  }

  static Result<std::vector<size_t>> stated_sizes(const RunValue& stated, size_t size) {
    std::vector<size_t> sizes;
    size_t left = size;
    for (size_t i = 0; i < stated.elements(); ++i) {
      MILLRACE_ASSIGN_OR_RETURN(const RunValue one, take_part(stated, 0, i));
      MILLRACE_ASSIGN_OR_RETURN(const int64_t part, read_integer(one));
      if (part < 0 || static_cast<uint64_t>(part) > left)
        return invalid_argument(fmt::format("its parts do not fit into the dimension of {}", size));
      sizes.push_back(static_cast<size_t>(part));
      left -= sizes.back();
    }
    if (left != 0) return invalid_argument("its parts do not add up to the dimension");
    return sizes;
  }

  Results split() {
    MILLRACE_ASSIGN_OR_RETURN(const auto whole, tensor(0));
    MILLRACE_ASSIGN_OR_RETURN(const size_t axis,
                              graph::normalise_axis(integer("axis", 0), whole->shape.size()));
    MILLRACE_ASSIGN_OR_RETURN(const auto sizes,
                              part_sizes(static_cast<size_t>(whole->shape[axis])));
    const bool drops_axis = !has(1) && integer("keepdims", 1) == 0;
    Members parts;
    size_t begin = 0;
    for (const size_t size : sizes) {
      MILLRACE_ASSIGN_OR_RETURN(RunValue part, take_range(*whole, axis, begin, size));
      if (drops_axis) part.shape.erase(part.shape.begin() + static_cast<ptrdiff_t>(axis));
      parts.push_back(std::make_shared<const RunValue>(std::move(part)));
      begin += size;
    }
    return sequence(std::move(parts));
  }

  Results pass() {
    MILLRACE_ASSIGN_OR_RETURN(RunValue same, operand(0));
    return one_result(std::move(same));
  }

  EnclosingRun& run_;
  const network::Node& node_;
};

}  // namespace

Results compute_on_sequence(EnclosingRun& run, const network::Node& node) {
  return Operation(run, node).compute();
}

}  // namespace millrace::runtime
