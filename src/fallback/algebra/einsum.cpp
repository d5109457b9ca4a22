// Einsum: sums of products over indices that an equation names. The equation is resolved to one
// loop per index, with the stride of that index in every operand and in the result; a single loop
// nest then adds the product of all operands to the result. Loops are sorted so that the innermost
// one has strides of 0 or 1 in as many tensors as possible.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>

#include "fallback/common_shapes.h"
#include "fallback/element.h"
#include "fallback/families.h"

namespace millrace::fallback {
namespace {

// An index of the equation: a letter, by its character code, or a dimension of the ellipsis. The
// latter are numbered from kFirstOfEllipsis on, the last dimension first.
using Index = uint8_t;
constexpr Index kFirstOfEllipsis = 128;

// The indices of a term before and after its ellipsis.
struct Term {
  std::vector<Index> before, after;
  bool ellipsis = false;

  size_t letters() const { return before.size() + after.size(); }
};

struct Equation {
  std::vector<Term> operands;
  std::optional<Term> result;  // nothing: the implicit form, without "->"
};

Result<Term> read_term(std::string_view text) {
  Term term;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == ' ') continue;
    if (text.substr(i, 3) == "..." && !term.ellipsis) {
      term.ellipsis = true;
      i += 2;
    } else if (std::isalpha(static_cast<unsigned char>(text[i])) != 0) {
      (term.ellipsis ? term.after : term.before).push_back(static_cast<Index>(text[i]));
    } else {
      return invalid_argument(fmt::format("its equation has '{}' instead of an index", text[i]));
    }
  }
  return term;
}

Result<Equation> read_equation(std::string_view text) {
  Equation equation;
  const size_t arrow = text.find("->");
  std::string_view operands = text.substr(0, arrow);
  for (;;) {
    const size_t comma = operands.find(',');
    MILLRACE_ASSIGN_OR_RETURN(equation.operands.emplace_back(),
                              read_term(operands.substr(0, comma)));
    if (comma == std::string_view::npos) break;
    operands.remove_prefix(comma + 1);
  }
  if (arrow != std::string_view::npos) {
    MILLRACE_ASSIGN_OR_RETURN(equation.result, read_term(text.substr(arrow + 2)));
  }
  return equation;
}

// Returns the indices of a term by dimension, for an operand whose ellipsis stands for `hidden`
// dimensions.
std::vector<Index> indices_of(const Term& term, size_t hidden) {
  std::vector<Index> indices = term.before;
  for (size_t i = hidden; i-- > 0;) indices.push_back(static_cast<Index>(kFirstOfEllipsis + i));
  indices.insert(indices.end(), term.after.begin(), term.after.end());
  return indices;
}

// An einsum with resolved indices: their sizes, and the index of each dimension of the operands and
// the result.
struct Contraction {
  std::array<int64_t, 256> sizes{};  // by index; operands of size 1 are broadcast
  std::array<bool, 256> used{};
  std::vector<std::vector<Index>> operands;
  std::vector<Index> result;
};

Status add_operand(const Term& term, const TensorView& operand, Contraction& contraction) {
  const bool fits =
      term.ellipsis ? operand.rank() >= term.letters() : operand.rank() == term.letters();
  if (!fits)
    return invalid_argument(fmt::format("its equation has {} indices for an operand of rank {}",
                                        term.letters(), operand.rank()));
  const auto indices = indices_of(term, operand.rank() - term.letters());
  for (size_t d = 0; d < indices.size(); ++d) {
    int64_t& size = contraction.sizes[indices[d]];
    bool& used = contraction.used[indices[d]];
    const int64_t dim = operand.dims[d];
    if (used && dim != size && dim != 1 && size != 1)
      return invalid_argument(fmt::format("an index has sizes {} and {}", size, dim));
    if (!used || size == 1) size = dim;
    used = true;
  }
  contraction.operands.push_back(indices);
  return {};
}

// Implicit form, without "->": the dimensions of the ellipsis, then all letters that occur once, in
// alphabetical order.
std::vector<Index> implicit_result(const Equation& equation, size_t hidden) {
  std::array<int, 256> count{};
  for (const Term& term : equation.operands) {
    for (const Index index : term.before) ++count[index];
    for (const Index index : term.after) ++count[index];
  }
  Term result;
  for (size_t index = 0; index < kFirstOfEllipsis; ++index)
    if (count[index] == 1) result.after.push_back(static_cast<Index>(index));
  return indices_of(result, hidden);
}

size_t hidden_dimensions(const Contraction& contraction) {
  size_t hidden = 0;
  while (hidden < graph::kMaxRank && contraction.used[kFirstOfEllipsis + hidden]) ++hidden;
  return hidden;
}

Status check_result(const Contraction& contraction) {
  std::array<bool, 256> seen{};
  for (const Index index : contraction.result) {
    if (!contraction.used[index] || seen[index])
      return invalid_argument(
          "an index of the result occurs twice, or in no operand of its equation");
    seen[index] = true;
  }
  return {};
}

Result<Contraction> contraction_of(const NodeView& node) {
  MILLRACE_ASSIGN_OR_RETURN(const Equation equation, read_equation(node.text("equation")));
  if (equation.operands.size() != node.input_count())
    return invalid_argument(fmt::format("its equation has {} operands, but the node has {}",
                                        equation.operands.size(), node.input_count()));
  Contraction contraction;
  for (size_t i = 0; i < node.input_count(); ++i)
    MILLRACE_RETURN_IF_ERROR(add_operand(equation.operands[i], node.in(i), contraction));
  const size_t hidden = hidden_dimensions(contraction);
  contraction.result = !equation.result            ? implicit_result(equation, hidden)
                       : equation.result->ellipsis ? indices_of(*equation.result, hidden)
                                                   : indices_of(*equation.result, 0);
  MILLRACE_RETURN_IF_ERROR(check_result(contraction));
  return contraction;
}

Status shape_of_einsum(Inference& node) {
  MILLRACE_RETURN_IF_ERROR(check_one_type(node));
  MILLRACE_ASSIGN_OR_RETURN(const Contraction contraction, contraction_of(node));
  Dims dims;
  for (const Index index : contraction.result) dims.push_back(contraction.sizes[index]);
  node.set(0, node.in(0).type, std::move(dims));
  return {};
}

// A loop over one index, with its stride in each operand and, as the last entry, in the result.
struct Loop {
  size_t size = 1;
  std::vector<size_t> strides;

  // The number of tensors that the loop traverses with stride 0 or 1.
  size_t even_strides() const {
    return static_cast<size_t>(std::ranges::count_if(strides, [](size_t s) { return s <= 1; }));
  }
};

// Adds the strides of a tensor to the loops. An index that occurs several times traverses a
// diagonal, so its strides add up; a broadcast dimension has stride 0.
void add_strides(const std::vector<Index>& indices, const Contraction& contraction,
                 std::span<const int64_t> dims, size_t tensor, std::array<Loop, 256>& loops) {
  size_t stride = 1;
  for (size_t d = indices.size(); d-- > 0;) {
    if (dims[d] != 1 || contraction.sizes[indices[d]] == 1)
      loops[indices[d]].strides[tensor] += stride;
    stride *= static_cast<size_t>(dims[d]);
  }
}

// Returns the loops of all indices; the one with the best locality is the innermost and last.
std::vector<Loop> loops_of(const Call& call, const Contraction& contraction) {
  const size_t tensors = call.input_count() + 1;
  std::array<Loop, 256> loops;
  for (Loop& loop : loops) loop.strides.assign(tensors, 0);
  for (size_t i = 0; i < call.input_count(); ++i)
    add_strides(contraction.operands[i], contraction, call.in(i).dims, i, loops);
  add_strides(contraction.result, contraction, call.out(0).dims, tensors - 1, loops);
  std::vector<Loop> result;
  for (size_t index = 0; index < loops.size(); ++index) {
    if (!contraction.used[index]) continue;
    loops[index].size = static_cast<size_t>(contraction.sizes[index]);
    if (loops[index].size != 1) result.push_back(std::move(loops[index]));
  }
  if (result.empty()) result.push_back({1, std::vector<size_t>(tensors, 0)});
  std::ranges::stable_sort(result, {}, &Loop::even_strides);
  return result;
}

// Floating-point sums are computed in double; integers wrap around.
using reference::Sum;

// Runs the innermost loop: sums[...] += product of the operands.
template <class T>
void walk_row(const Loop& loop, std::span<const T* const> operands, std::span<const size_t> at,
              Sum<T>* sums) {
  const size_t last = operands.size();
  Sum<T>* to = sums + at[last];
  if (operands.size() == 2) {  // the usual case, separate so that it is vectorised
    const T *a = operands[0] + at[0], *b = operands[1] + at[1];
    const size_t of_a = loop.strides[0], of_b = loop.strides[1], of_sum = loop.strides[2];
    for (size_t i = 0; i < loop.size; ++i)
      to[i * of_sum] = reference::add_product<T>(to[i * of_sum], a[i * of_a], b[i * of_b]);
    return;
  }
  for (size_t i = 0; i < loop.size; ++i) {
    Sum<T> product = 1;
    for (size_t k = 0; k < last; ++k)
      product = reference::Mul{}(product, Sum<T>{operands[k][at[k] + i * loop.strides[k]]});
    Sum<T>& sum = to[i * loop.strides[last]];
    sum = reference::Add{}(sum, product);
  }
}

template <class T>
void walk(const std::vector<Loop>& loops, std::span<const T* const> operands, Sum<T>* sums) {
  for (const Loop& loop : loops)
    if (loop.size == 0) return;
  std::vector<size_t> at(operands.size() + 1, 0), index(loops.size(), 0);
  for (;;) {
    walk_row<T>(loops.back(), operands, at, sums);
    size_t d = loops.size() - 1;
    for (; d > 0; --d) {
      const Loop& loop = loops[d - 1];
      for (size_t k = 0; k < at.size(); ++k) at[k] += loop.strides[k];
      if (++index[d - 1] < loop.size) break;
      for (size_t k = 0; k < at.size(); ++k) at[k] -= loop.strides[k] * loop.size;
      index[d - 1] = 0;
    }
    if (d == 0) return;
  }
}

Status einsum(const Call& call) {
  MILLRACE_ASSIGN_OR_RETURN(const Contraction contraction, contraction_of(call));
  const std::vector<Loop> loops = loops_of(call, contraction);
  return visit_element(call.in(0).type, [&](auto zero) -> Status {
    using T = decltype(zero);
    std::vector<const T*> operands;
    for (const TensorView& operand : call.inputs()) operands.push_back(operand.as<T>().data());
    std::vector<Sum<T>> sums(call.out(0).elements());
    walk<T>(loops, operands, sums.data());
    std::ranges::transform(sums, call.out(0).as<T>().begin(),
                           [](Sum<T> sum) { return static_cast<T>(sum); });
    return {};
  });
}

constexpr AttributeSpec kEinsum[] = {{"equation", AttributeKind::kText}};

}  // namespace

std::span<const OperatorSpec> einsum_operators() noexcept {
  static constexpr OperatorSpec kOperators[] = {
      {"Einsum", 12, {1, kAnyNumber}, {}, kNumbers, shape_of_einsum, einsum, kEinsum},
  };
  return kOperators;
}

}  // namespace millrace::fallback
