// Operators on n-grams (sequences of n elements). TfIdfVectorizer for integers counts how often the
// n-grams of a pool occur in each row, also with elements skipped between them (skip-grams), and
// weights the counts by TF, IDF or TF-IDF. NGramRepeatBlock of com.microsoft excludes the tokens
// that would repeat an n-gram of the sequence so far.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "fallback/common_shapes.h"
#include "fallback/element.h"
#include "fallback/families.h"

namespace millrace::fallback {
namespace {

// The n-grams of the pool. Those of one length are consecutive; `starts` holds the positions where
// length 1, 2, ... begins.
struct Pool {
  std::span<const int64_t> elements, starts, outputs;
  std::span<const float> weights;  // by output; empty: all are 1
  int64_t shortest = 1, longest = 1, most_skipped = 0;
  size_t width = 0;  // width of an output row

  // Returns all n-grams with `length` elements.
  std::span<const int64_t> of_length(int64_t length) const {
    const auto begin = static_cast<size_t>(starts[static_cast<size_t>(length - 1)]);
    const size_t end = static_cast<size_t>(length) < starts.size()
                           ? static_cast<size_t>(starts[static_cast<size_t>(length)])
                           : elements.size();
    return elements.subspan(begin, end - begin);
  }
};

Status check_sequences(const Pool& pool) {
  size_t sequences = 0;
  for (size_t i = 0; i < pool.starts.size(); ++i) {
    const auto end = i + 1 < pool.starts.size() ? pool.starts[i + 1]
                                                : static_cast<int64_t>(pool.elements.size());
    const auto length = static_cast<int64_t>(i + 1);
    if (pool.starts[i] < 0 || pool.starts[i] > end ||
        end > static_cast<int64_t>(pool.elements.size()) || (end - pool.starts[i]) % length != 0)
      return invalid_argument("ngram_counts does not divide the pool into sequences");
    sequences += static_cast<size_t>((end - pool.starts[i]) / length);
  }
  if (!pool.starts.empty() && pool.starts[0] == 0 && sequences == pool.outputs.size()) return {};
  return invalid_argument(
      fmt::format("{} ngram_indexes for a pool of {} sequences", pool.outputs.size(), sequences));
}

Result<Pool> pool_of(const NodeView& node) {
  const Dims *elements = node.integers("pool_int64s"), *starts = node.integers("ngram_counts");
  const Dims* outputs = node.integers("ngram_indexes");
  if (elements == nullptr) return unsupported("a pool of strings is not supported");
  if (starts == nullptr || outputs == nullptr || outputs->empty())
    return invalid_argument("it has no ngram_counts or ngram_indexes");
  const std::vector<float>* weights = node.reals("weights");
  Pool pool{*elements, *starts, *outputs, {}};
  pool.shortest = node.integer("min_gram_length");
  pool.longest = node.integer("max_gram_length");
  pool.most_skipped = node.integer("max_skip_count");
  if (pool.shortest < 1 || pool.longest < pool.shortest || pool.most_skipped < 0 ||
      pool.longest > static_cast<int64_t>(starts->size()))
    return invalid_argument("min_gram_length, max_gram_length or max_skip_count is out of range");
  MILLRACE_RETURN_IF_ERROR(check_sequences(pool));
  if (weights != nullptr) {
    if (weights->size() != outputs->size())
      return invalid_argument("weights and ngram_indexes differ in length");
    pool.weights = *weights;
  }
  const auto [least, most] = std::ranges::minmax(*outputs);
  // The width of a row is the largest index + 1. Indices without an n-gram are allowed, but this
  // limit refuses rows that are almost empty.
  constexpr int64_t kMaxWidth = int64_t{1} << 24;
  if (least < 0 || most >= kMaxWidth) return invalid_argument("ngram_indexes are out of range");
  pool.width = static_cast<size_t>(most) + 1;
  return pool;
}

Status check_mode(const NodeView& node) {
  const std::string mode = node.text("mode");
  if (mode == "TF" || mode == "IDF" || mode == "TFIDF") return {};
  return invalid_argument(fmt::format("unknown mode '{}'", mode));
}

Status shape_of_vectorizer(Inference& node) {
  MILLRACE_RETURN_IF_ERROR(check_mode(node));
  MILLRACE_ASSIGN_OR_RETURN(const Pool pool, pool_of(node));
  const TensorView& x = node.in(0);
  if (x.rank() != 1 && x.rank() != 2) return invalid_argument("its input must be [C] or [N, C]");
  Dims dims(x.dims.begin(), x.dims.end() - 1);
  dims.push_back(static_cast<int64_t>(pool.width));
  node.set(0, DataType::kFloat32, std::move(dims));
  return {};
}

// Returns how often an n-gram occurs in the row with its elements `step` apart.
size_t occurrences(std::span<const int64_t> row, std::span<const int64_t> sequence, size_t step) {
  const size_t reach = (sequence.size() - 1) * step;
  size_t count = 0;
  for (size_t begin = 0; begin + reach < row.size(); ++begin) {
    bool same = true;
    for (size_t i = 0; same && i < sequence.size(); ++i)
      same = row[begin + i * step] == sequence[i];
    if (same) ++count;
  }
  return count;
}

// Returns how often an n-gram occurs with 0 to most_skipped elements skipped between its elements.
// A single element has no such distance and is counted once.
size_t occurrences_with_skips(const Pool& pool, std::span<const int64_t> row,
                              std::span<const int64_t> sequence) {
  if (sequence.size() == 1) return occurrences(row, sequence, 1);
  // Larger steps than the row find nothing.
  const size_t furthest = std::min(static_cast<size_t>(pool.most_skipped) + 1, row.size());
  size_t count = 0;
  for (size_t step = 1; step <= furthest; ++step) count += occurrences(row, sequence, step);
  return count;
}

void count_row(const Pool& pool, std::span<const int64_t> row, std::span<float> counts) {
  size_t number = 0;  // index of the n-gram in the pool
  for (int64_t length = 1; length <= static_cast<int64_t>(pool.starts.size()); ++length) {
    const auto of_length = pool.of_length(length);
    const auto size = static_cast<size_t>(length);
    for (size_t at = 0; at < of_length.size(); at += size, ++number) {
      if (length < pool.shortest || length > pool.longest) continue;
      counts[static_cast<size_t>(pool.outputs[number])] +=
          static_cast<float>(occurrences_with_skips(pool, row, of_length.subspan(at, size)));
    }
  }
}

// Turns counts into the result of the mode: TF is the count, IDF the weight if there is a count,
// and TFIDF their product.
void weigh_row(const Pool& pool, const std::string& mode, std::span<float> counts) {
  std::vector<float> weights(counts.size(), 1);
  for (size_t i = 0; i < pool.weights.size(); ++i)
    weights[static_cast<size_t>(pool.outputs[i])] = pool.weights[i];
  for (size_t i = 0; i < counts.size(); ++i) {
    if (mode == "IDF") counts[i] = counts[i] > 0 ? weights[i] : 0;
    if (mode == "TFIDF") counts[i] *= weights[i];
  }
}

Status vectorize(const Call& call) {
  MILLRACE_ASSIGN_OR_RETURN(const Pool pool, pool_of(call));
  const std::string mode = call.text("mode");
  const auto size = static_cast<size_t>(call.in(0).dims.back());
  const auto to = call.out(0).as<float>();
  std::ranges::fill(to, 0.0f);
  std::vector<int64_t> row(size);
  for (size_t r = 0; r < to.size() / pool.width; ++r) {
    for (size_t i = 0; i < size; ++i) row[i] = index_at(call.in(0), r * size + i);
    const auto counts = to.subspan(r * pool.width, pool.width);
    count_row(pool, row, counts);
    weigh_row(pool, mode, counts);
  }
  return {};
}

Status shape_of_repeat_block(Inference& node) {
  const TensorView &tokens = node.in(0), &scores = node.in(1);
  if (node.integer("ngram_size") < 1) return invalid_argument("ngram_size must be positive");
  const bool fits = tokens.rank() == 2 && scores.rank() == 2 && tokens.dims[0] == scores.dims[0] &&
                    scores.type == DataType::kFloat32;
  if (!fits)
    return invalid_argument(
        "the tokens [batch, length] and the FLOAT32 scores [batch, vocabulary] do not fit");
  node.set(0, scores.type, to_dims(scores.dims));
  return {};
}

// Sets the score of each token to -infinity that follows an earlier occurrence of the last `size` -
// 1 tokens.
Status block_repeats(std::span<const int64_t> tokens, size_t size, std::span<float> scores) {
  if (tokens.size() < size) return {};
  const auto last = tokens.last(size - 1);
  for (size_t begin = 0; begin + size <= tokens.size(); ++begin) {
    if (!std::ranges::equal(tokens.subspan(begin, size - 1), last)) continue;
    const int64_t token = tokens[begin + size - 1];
    if (token < 0 || static_cast<uint64_t>(token) >= scores.size())
      return invalid_argument(
          fmt::format("token {} is outside the vocabulary of {}", token, scores.size()));
    scores[static_cast<size_t>(token)] = -std::numeric_limits<float>::infinity();
  }
  return {};
}

Status repeat_block(const Call& call) {
  const auto scores = call.out(0).as<float>();
  std::ranges::copy(call.in(1).as<float>(), scores.begin());
  const auto rows = static_cast<size_t>(call.in(0).dims[0]);
  const auto length = static_cast<size_t>(call.in(0).dims[1]), words = scores.size() / rows;
  const auto size = static_cast<size_t>(call.integer("ngram_size"));
  for (size_t row = 0; row < rows; ++row)
    MILLRACE_RETURN_IF_ERROR(block_repeats(call.in(0).as<int64_t>().subspan(row * length, length),
                                           size, scores.subspan(row * words, words)));
  return {};
}

constexpr AttributeSpec kRepeatBlock[] = {{"ngram_size", AttributeKind::kInteger}};
constexpr AttributeSpec kAttributes[] = {
    {"max_gram_length", AttributeKind::kInteger}, {"max_skip_count", AttributeKind::kInteger},
    {"min_gram_length", AttributeKind::kInteger}, {"mode", AttributeKind::kText},
    {"ngram_counts", AttributeKind::kIntegers},   {"ngram_indexes", AttributeKind::kIntegers},
    {"pool_int64s", AttributeKind::kIntegers},    {"weights", AttributeKind::kFloats}};

}  // namespace

std::span<const OperatorSpec> n_gram_operators() noexcept {
  static constexpr OperatorSpec kOperators[] = {
      {"TfIdfVectorizer", 9, {}, {}, kIndexTypes, shape_of_vectorizer, vectorize, kAttributes},
      {"com.microsoft.NGramRepeatBlock",
       1,
       {2, 2},
       {},
       {DataType::kInt64},
       shape_of_repeat_block,
       repeat_block,
       kRepeatBlock},
  };
  return kOperators;
}

}  // namespace millrace::fallback
