// For each block of keys and their values:
//   for each group of queries:
//     scores = (scale query) keys + bias
//     largest' = max(largest, scores), factor = e^(largest - largest')
//     weights = e^(scores - largest')
//     sum = factor sum + (the sum of the weights)
//     result = factor result + weights values
// In the end the results are divided by the sums. Both products are made of register tiles: some
// rows by some vectors of columns, for which the keys are copied as columns, and values are copied
// to whole vectors. For few queries that would take longer than the products. Their scores are
// computed from the keys as these lie, as dot products.
#include "device/cpu/accelerated/attention/loops.h"

#include <algorithm>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "device/cpu/accelerated/attention/loops.cpp"
#include <hwy/foreach_target.h>
// clang-format off: after foreach_target.h
#include <hwy/highway.h>

#include "device/cpu/kernels/exponential-inl.h"
#include "device/cpu/kernels/registers-inl.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace millrace::device::cpu::accelerated::attention::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using kernels::HWY_NAMESPACE::exponential_of_negative;
using kernels::HWY_NAMESPACE::keep_in_register;
using Floats = hn::CappedTag<float, 16>;
using Vector = hn::Vec<Floats>;

constexpr size_t kLanes = hn::MaxLanes(Floats());
// A tile of 6 rows by as many vectors as leave registers for the operands.
constexpr size_t kTileRows = 6, kTileVectors = kLanes >= 16 || kLanes == 1 ? 4 : 2;
// The columns of a tile, which lie together: rows of more would begin at too few different places
// of the L1 cache.
constexpr size_t kPanel = kTileVectors * kLanes;
static_assert(kPanel % 4 == 0 && kMostKeys % kPanel == 0);
constexpr float kInfinity = std::numeric_limits<float>::infinity();

constexpr size_t padded(size_t elements) {
  return (elements + kLanes - 1) / kLanes * kLanes;
}

// A product with a matrix of `depth` rows of `columns` elements, which is a multiple of kLanes.
struct Product {
  Rows a, b;
  size_t depth, columns;
  const float* factors;  // of the rows of c before the product is added, if it is
  float* c;
  size_t c_step;
};

// Computes kVectors vectors of each row, from `column` on. With kAdds, the product is added to c.
template <size_t kRows, size_t kVectors, bool kAdds>
void multiply_tile(const Product& product, size_t column) {
  const Floats d;
  Vector sums[kRows][kVectors];
  float* const c = product.c + column;
  for (size_t r = 0; r < kRows; ++r)
    for (size_t v = 0; v < kVectors; ++v)
      if constexpr (kAdds)
        sums[r][v] = hn::Mul(hn::Set(d, product.factors[r]),
                             hn::Load(d, c + r * product.c_step + v * kLanes));
      else
        sums[r][v] = hn::Zero(d);
  const float* b = product.b.at + column;
  for (size_t k = 0; k < product.depth; ++k, b += product.b.step) {
    Vector operands[kVectors];
    for (size_t v = 0; v < kVectors; ++v) {
      operands[v] = hn::LoadU(d, b + v * kLanes);
      keep_in_register(operands[v]);
    }
    for (size_t r = 0; r < kRows; ++r) {
      const Vector a = hn::Set(d, product.a.at[r * product.a.step + k]);
      for (size_t v = 0; v < kVectors; ++v) {
        sums[r][v] = hn::MulAdd(a, operands[v], sums[r][v]);
        keep_in_register(sums[r][v]);
      }
    }
  }
  for (size_t r = 0; r < kRows; ++r)
    for (size_t v = 0; v < kVectors; ++v)
      hn::Store(sums[r][v], d, c + r * product.c_step + v * kLanes);
}

template <size_t kRows, bool kAdds>
void multiply(const Product& product) {
  size_t column = 0;
  for (; column + kTileVectors * kLanes <= product.columns; column += kTileVectors * kLanes)
    multiply_tile<kRows, kTileVectors, kAdds>(product, column);
  for (; column < product.columns; column += kLanes)
    multiply_tile<kRows, 1, kAdds>(product, column);
}

// The state of the queries of a block after some of the keys.
struct State {
  float largest[kMostQueries], sums[kMostQueries];
  float* queries;  // scaled, in rows of `depth` elements
  float* results;  // rows of padded(size) elements
};

// Some keys, in rows as the caller has them or as columns of panels, and their values.
struct KeyBlock {
  size_t first, count;
  Rows keys;
  const float* columns;  // [panels, depth, kPanel]; null if they are not copied
  Rows values;
};

// Adds the bias of a query to its scores. Those beside the keys become -inf.
void add_bias(const Block& block, const KeyBlock& keys, size_t query, float* scores) {
  if (block.bias.at != nullptr) {
    const float* bias = block.bias.at + query * block.bias.row_step;
    if (block.bias.step == 0)
      for (size_t i = 0; i < keys.count; ++i) scores[i] += *bias;
    else
      for (size_t i = 0; i < keys.count; ++i) scores[i] += bias[keys.first + i];
  }
  std::fill(scores + keys.count, scores + padded(keys.count), -kInfinity);
}

// The end of the keys that a query sees.
size_t end_of_seen(const Block& block, size_t query) {
  return std::min(block.seen.end + query * block.seen.later, block.keys);
}

// Returns the keys without those that none of the queries from `first` to `last` sees, as far as
// these are the last ones, or all.
KeyBlock without_unseen(const Block& block, KeyBlock keys, size_t first, size_t last) {
  const size_t end = end_of_seen(block, last);
  keys.count = std::min(keys.count, end - std::min(end, keys.first));
  if (end_of_seen(block, first) >= keys.first + keys.count + block.seen.window) keys.count = 0;
  return keys;
}

// The scores of keys that a query does not see become -inf.
void hide_unseen(const Block& block, const KeyBlock& keys, size_t query, float* scores) {
  const size_t end = end_of_seen(block, query);
  if (end < keys.first + keys.count)
    std::fill(scores + (end > keys.first ? end - keys.first : 0), scores + keys.count, -kInfinity);
  if (end > keys.first + block.seen.window)
    std::fill_n(scores, std::min(end - block.seen.window - keys.first, keys.count), -kInfinity);
}

// Turns the scores of a query into weights, and returns the factor of what it has so far.
float weigh(float* scores, size_t columns, float& largest, float& sum) {
  const Floats d;
  Vector most = hn::Set(d, largest);
  for (size_t i = 0; i < columns; i += kLanes) most = hn::Max(most, hn::Load(d, scores + i));
  most = hn::MaxOfLanes(d, most);
  // Keys so far that all have -inf get the weight 0, without -inf - -inf.
  const Vector centre = hn::IfThenZeroElse(hn::Eq(most, hn::Set(d, -kInfinity)), most);
  Vector weights = hn::Zero(d);
  for (size_t i = 0; i < columns; i += kLanes) {
    const Vector weight = exponential_of_negative(d, hn::Sub(hn::Load(d, scores + i), centre));
    weights = hn::Add(weights, weight);
    hn::Store(weight, d, scores + i);
  }
  const float factor =
      hn::GetLane(exponential_of_negative(d, hn::Sub(hn::Set(d, largest), centre)));
  largest = hn::GetLane(most);
  sum = sum * factor + hn::GetLane(hn::SumOfLanes(d, weights));
  return factor;
}

// Computes scores as dot products. Requirement: `depth` is a multiple of kLanes.
void multiply_by_rows(const Rows& queries, size_t count, const KeyBlock& keys, size_t depth,
                      float* scores) {
  const Floats d;
  for (size_t r = 0; r < count; ++r)
    for (size_t i = 0; i < keys.count; ++i) {
      const float *const query = queries.at + r * queries.step, *const key = keys.keys.at +
                                                                             i * keys.keys.step;
      Vector sum = hn::Zero(d);
      for (size_t k = 0; k < depth; k += kLanes)
        sum = hn::MulAdd(hn::LoadU(d, query + k), hn::LoadU(d, key + k), sum);
      scores[r * kMostKeys + i] = hn::GetLane(hn::SumOfLanes(d, sum));
    }
}

// Takes the keys into account for kRows queries, from `query` on.
template <size_t kRows>
void attend_group(const Block& block, const KeyBlock& keys, size_t query, State& state) {
  alignas(64) float scores[kRows * kMostKeys];
  float factors[kRows];
  const size_t columns = padded(keys.count);
  const Rows queries{state.queries + query * block.depth, block.depth};
  if (keys.columns == nullptr)
    multiply_by_rows(queries, kRows, keys, block.depth, scores);
  else
    for (size_t first = 0; first < columns; first += kPanel)
      multiply<kRows, false>({.a = queries,
                              .b = {keys.columns + first * block.depth, kPanel},
                              .depth = block.depth,
                              .columns = std::min(kPanel, columns - first),
                              .factors = nullptr,
                              .c = scores + first,
                              .c_step = kMostKeys});
  for (size_t r = 0; r < kRows; ++r) {
    float* const row = scores + r * kMostKeys;
    add_bias(block, keys, query + r, row);
    hide_unseen(block, keys, query + r, row);
    factors[r] = weigh(row, columns, state.largest[query + r], state.sums[query + r]);
  }
  const size_t size = padded(block.size);
  multiply<kRows, true>({.a = {scores, kMostKeys},
                         .b = keys.values,
                         .depth = keys.count,
                         .columns = size,
                         .factors = factors,
                         .c = state.results + query * size,
                         .c_step = size});
}

// Does the same without the keys that none of these queries sees.
template <size_t kRows>
void attend_seen(const Block& block, const KeyBlock& keys, size_t query, State& state) {
  const KeyBlock seen = without_unseen(block, keys, query, query + kRows - 1);
  if (seen.count > 0) attend_group<kRows>(block, seen, query, state);
}

void attend_keys(const Block& block, const KeyBlock& keys, State& state) {
  size_t query = 0;
  for (; query + kTileRows <= block.queries; query += kTileRows)
    attend_seen<kTileRows>(block, keys, query, state);
  for (; query + 2 <= block.queries; query += 2) attend_seen<2>(block, keys, query, state);
  if (query < block.queries) attend_seen<1>(block, keys, query, state);
}

// The place of the first element of a key in the panels.
float* panel_at(float* panels, size_t key, size_t depth) {
  return panels + key / kPanel * kPanel * depth + key % kPanel;
}

// Copies 4 elements of 4 keys, one key to a column of a panel.
void transpose(const Rows& keys, float* to) {
#if HWY_TARGET == HWY_SCALAR
  for (size_t i = 0; i < 4; ++i)
    for (size_t k = 0; k < 4; ++k) to[k * kPanel + i] = keys.at[i * keys.step + k];
#else
  const hn::Full128<float> d;
  const hn::Full128<double> pairs;
  const auto a = hn::LoadU(d, keys.at), b = hn::LoadU(d, keys.at + keys.step);
  const auto c = hn::LoadU(d, keys.at + 2 * keys.step), e = hn::LoadU(d, keys.at + 3 * keys.step);
  const auto ab = hn::BitCast(pairs, hn::InterleaveLower(d, a, b));
  const auto ce = hn::BitCast(pairs, hn::InterleaveLower(d, c, e));
  const auto ab_upper = hn::BitCast(pairs, hn::InterleaveUpper(d, a, b));
  const auto ce_upper = hn::BitCast(pairs, hn::InterleaveUpper(d, c, e));
  hn::StoreU(hn::BitCast(d, hn::InterleaveLower(pairs, ab, ce)), d, to);
  hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(pairs, ab, ce)), d, to + kPanel);
  hn::StoreU(hn::BitCast(d, hn::InterleaveLower(pairs, ab_upper, ce_upper)), d, to + 2 * kPanel);
  hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(pairs, ab_upper, ce_upper)), d, to + 3 * kPanel);
#endif
}

// Copies some keys, one to a column of the panels. The columns beside them are 0.
void copy_as_columns(const Rows& keys, size_t count, size_t depth, float* to) {
  const size_t whole_keys = count / 4 * 4, whole_depth = depth / 4 * 4;
  for (size_t i = 0; i < whole_keys; i += 4)
    for (size_t k = 0; k < whole_depth; k += 4)
      transpose({keys.at + i * keys.step + k, keys.step}, panel_at(to, i, depth) + k * kPanel);
  for (size_t i = 0; i < count; ++i)
    for (size_t k = i < whole_keys ? whole_depth : 0; k < depth; ++k)
      panel_at(to, i, depth)[k * kPanel] = keys.at[i * keys.step + k];
  for (size_t i = count; i < padded(count); ++i)
    for (size_t k = 0; k < depth; ++k) panel_at(to, i, depth)[k * kPanel] = 0;
}

// Copies some values. The elements beside them are 0.
void copy_padded(const Rows& values, size_t count, size_t size, float* to) {
  for (size_t i = 0; i < count; ++i, to += padded(size)) {
    std::copy_n(values.at + i * values.step, size, to);
    std::fill(to + size, to + padded(size), 0.0f);
  }
}

// With fewer queries, copying keys and values takes longer than multiplying by them.
constexpr size_t kManyQueries = 8;

Rows from_row(const Rows& rows, size_t row) {
  return {rows.at + row * rows.step, rows.step};
}

void attend_block(const Block& block) {
  const size_t size = padded(block.size);
  const bool copies_keys = block.queries >= kManyQueries || block.depth % kLanes != 0;
  const bool copies_values = block.queries >= kManyQueries || block.size % kLanes != 0;
  float* const columns = block.scratch;
  float* const values = columns + block.depth * kMostKeys;
  State state;
  state.results = values + kMostKeys * size;
  state.queries = state.results + block.queries * size;
  for (size_t query = 0; query < block.queries; ++query)
    for (size_t k = 0; k < block.depth; ++k)
      state.queries[query * block.depth + k] =
          block.query.at[query * block.query.step + k] * block.scale;
  for (size_t query = 0; query < block.queries; ++query) {
    const float* const sink = block.sinks.at;
    state.largest[query] = sink == nullptr ? -kInfinity : sink[query * block.sinks.step];
    state.sums[query] = sink == nullptr ? 0.0f : 1.0f;
  }
  std::fill_n(state.results, block.queries * size, 0.0f);
  const size_t end = end_of_seen(block, block.queries - 1);
  for (size_t first = 0; first < end; first += kMostKeys) {
    KeyBlock keys{first, std::min(kMostKeys, end - first), from_row(block.key, first), nullptr,
                  from_row(block.value, first)};
    if (copies_keys) {
      copy_as_columns(keys.keys, keys.count, block.depth, columns);
      keys.columns = columns;
    }
    if (copies_values) {
      copy_padded(keys.values, keys.count, block.size, values);
      keys.values = {values, size};
    }
    attend_keys(block, keys, state);
  }
  for (size_t query = 0; query < block.queries; ++query)
    for (size_t i = 0; i < block.size; ++i)
      block.to[query * block.to_step + i] = state.results[query * size + i] / state.sums[query];
}

}  // namespace
}  // namespace millrace::device::cpu::accelerated::attention::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace millrace::device::cpu::accelerated::attention {

HWY_EXPORT(attend_block);

void attend(const Block& block) noexcept {
  HWY_DYNAMIC_DISPATCH(attend_block)(block);
}

}  // namespace millrace::device::cpu::accelerated::attention
#endif  // HWY_ONCE
