// BifurcationDetector of com.microsoft, a step of speculative decoding: a text is to be written
// again with changes, and the tokens of the source are proposed as those that follow.
//
// Operands: the source tokens [source], the tokens so far [length], the index in the source from
// which on tokens were proposed, and the predictions of the model for these and one more. Outputs:
// the tokens so far with the predictions up to and including the first that differs from the
// source; and the index in the source from which on to propose next, which follows the only
// occurrence of the last tokens there, or is -1.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "fallback/common_shapes.h"
#include "fallback/element.h"
#include "fallback/families.h"

namespace millrace::fallback {
namespace {

using Tokens = std::span<const int64_t>;

constexpr size_t kSource = 0, kWritten = 1, kProposedFrom = 2, kPredicted = 3;

Status check_token_lists(const Inference& node) {
  for (const size_t index : {kSource, kWritten, kPredicted})
    if (node.has(index) && (node.in(index).rank() != 1 || node.in(index).type != DataType::kInt64))
      return invalid_argument("its tokens must be vectors of INT64");
  if (node.in(kProposedFrom).type != DataType::kInt64 || node.in(kProposedFrom).elements() != 1)
    return invalid_argument("prev_suffix_match_idx must be one INT64");
  const int64_t shortest = node.integer("min_ngram_size"), longest = node.integer("max_ngram_size");
  if (shortest >= 1 && longest >= shortest) return {};
  return invalid_argument(
      fmt::format("its n-grams of {} to {} tokens must have at least one", shortest, longest));
}

// Returns the predictions that are kept. Requirement: all elements are known.
Result<Tokens> kept_predictions(const NodeView& node) {
  if (!node.has(kPredicted)) return Tokens();
  const Tokens source = node.in(kSource).as<int64_t>(),
               predicted = node.in(kPredicted).as<int64_t>();
  const int64_t from = node.in(kProposedFrom).as<int64_t>()[0];
  if (from < 0 || static_cast<uint64_t>(from) > source.size())
    return invalid_argument(fmt::format("prev_suffix_match_idx {} is outside a source of {} tokens",
                                        from, source.size()));
  const Tokens proposed = source.subspan(static_cast<size_t>(from));
  if (predicted.size() != proposed.size() + 1)
    return invalid_argument(fmt::format("it has {} predictions for {} proposed tokens and the next",
                                        predicted.size(), proposed.size()));
  const auto differs = std::ranges::mismatch(proposed, predicted).in2;
  return Tokens(predicted.begin(), differs + 1);
}

Status shape_of_bifurcation(Inference& node) {
  MILLRACE_RETURN_IF_ERROR(check_token_lists(node));
  int64_t kept = 0;
  if (node.has(kPredicted)) {
    for (const size_t index : {kSource, kProposedFrom, kPredicted})
      MILLRACE_RETURN_IF_ERROR(node.require_elements(index));
    MILLRACE_ASSIGN_OR_RETURN(const Tokens predictions, kept_predictions(node));
    kept = static_cast<int64_t>(predictions.size());
  }
  node.set(0, DataType::kInt64, {node.in(kWritten).dims[0] + kept});
  node.set(1, DataType::kInt64, to_dims(node.in(kProposedFrom).dims));
  return {};
}

// The last of the tokens, which are compared backwards. After a token that differs, no token of the
// source is read again (Knuth, Morris and Pratt): `restarts_` has, for each number of tokens that
// match, how many of them match once more, further on.
class LastTokens {
 public:
  // Requirement: there is one.
  explicit LastTokens(Tokens tokens) : tokens_(tokens), restarts_(tokens.size() + 1) {
    for (size_t size = 1; size < tokens.size(); ++size)
      restarts_[size + 1] = matches_with(restarts_[size], from_behind(size));
  }

  // Returns how many tokens match up to and including `next`, if `matches` do before it.
  size_t matches_with(size_t matches, int64_t next) const {
    if (matches == tokens_.size()) matches = restarts_[matches];
    while (matches > 0 && from_behind(matches) != next) matches = restarts_[matches];
    return from_behind(matches) == next ? matches + 1 : 0;
  }

 private:
  int64_t from_behind(size_t index) const { return tokens_[tokens_.size() - 1 - index]; }

  Tokens tokens_;
  std::vector<size_t> restarts_;
};

// Returns the index after the only occurrence of the last tokens in the source. Few tokens may
// occur more often, and then more of them are looked for: as many as the source has, at most
// `longest`.
int64_t index_after_match(Tokens source, Tokens tokens, size_t shortest, size_t longest) {
  if (tokens.size() < shortest) return -1;
  const LastTokens last(tokens.last(std::min(longest, tokens.size())));
  size_t matches = 0, most = 0, occurrences = 0, after = 0;
  for (size_t begin = source.size(); begin-- > 0;) {
    matches = last.matches_with(matches, source[begin]);
    if (matches < std::max(most, size_t{1})) continue;
    occurrences = matches > most ? 1 : occurrences + 1;
    most = matches;
    after = begin + most;
  }
  return most >= shortest && occurrences == 1 ? static_cast<int64_t>(after) : -1;
}

Status detect_bifurcation(const Call& call) {
  MILLRACE_ASSIGN_OR_RETURN(const Tokens predictions, kept_predictions(call));
  const auto tokens = call.out(0).as<int64_t>();
  const Tokens written = call.in(kWritten).as<int64_t>();
  std::ranges::copy(written, tokens.begin());
  std::ranges::copy(predictions, tokens.begin() + static_cast<std::ptrdiff_t>(written.size()));
  call.out(1).as<int64_t>()[0] = index_after_match(
      call.in(kSource).as<int64_t>(), tokens, static_cast<size_t>(call.integer("min_ngram_size")),
      static_cast<size_t>(call.integer("max_ngram_size")));
  return {};
}

constexpr AttributeSpec kNGramSizes[] = {{"max_ngram_size", AttributeKind::kInteger},
                                         {"min_ngram_size", AttributeKind::kInteger}};

}  // namespace

std::span<const OperatorSpec> bifurcation_operators() noexcept {
  static constexpr OperatorSpec kOperators[] = {
      {"com.microsoft.BifurcationDetector",
       1,
       {3, 4},
       {2, 2},
       {DataType::kInt64},
       shape_of_bifurcation,
       detect_bifurcation,
       kNGramSizes,
       true},
  };
  return kOperators;
}

}  // namespace millrace::fallback
