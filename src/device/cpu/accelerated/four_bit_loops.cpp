// A vector of words has the weights of 8 consecutive elements of a row in each lane. Shifted by 4 i
// bits, its lanes have the weights of elements i, 8 + i, 16 + i, ... of the row, which the arranged
// row has as one vector. So a chunk, which is a vector of words, takes 8 multiplications. The sums
// of a chunk are multiplied by the scales, of which a lane needs one only, since a block has a
// multiple of 8 weights.
#include "device/cpu/accelerated/four_bit_loops.h"

#include <algorithm>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "device/cpu/accelerated/four_bit_loops.cpp"
#include <hwy/foreach_target.h>
// clang-format off: after foreach_target.h
#include <hwy/highway.h>

#include "device/cpu/kernels/registers-inl.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace millrace::device::cpu::accelerated::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using kernels::HWY_NAMESPACE::keep_in_register;
using Floats = hn::CappedTag<float, 16>;
using Vector = hn::Vec<Floats>;
using Words = hn::RebindToUnsigned<Floats>;
using WordVector = hn::Vec<Words>;
using Indices = hn::RebindToSigned<Floats>;

constexpr size_t kPerWord = 8;  // weights of 4 bits in a word
constexpr size_t kLanes = hn::MaxLanes(Floats());
constexpr size_t kChunk = kPerWord * kLanes;
constexpr float kMiddle = 8;  // the zero point of blocks that state none

// The part of the matrix that one column has, and how it is divided into chunks.
class Columns {
 public:
  explicit Columns(const FourBitMatrix& matrix)
      : matrix_(matrix),
        whole_(matrix.blocks() * matrix.block / kChunk),
        rest_(matrix.blocks() * matrix.block % kChunk / kPerWord),
        is_in_rest_(hn::FirstN(Floats(), rest_)),
        block_of_lane_(block_of_lanes(matrix.block)) {}

  size_t chunks() const { return whole_ + (rest_ > 0 ? 1 : 0); }

  WordVector words(size_t column, size_t chunk) const {
    const uint8_t* from = matrix_.weights + column * matrix_.blocks() * matrix_.block / 2 +
                          chunk * kLanes * sizeof(uint32_t);
    if (chunk < whole_) return hn::LoadU(Words(), reinterpret_cast<const uint32_t*>(from));
    alignas(64) uint32_t words[kLanes] = {};
    std::memcpy(words, from, rest_ * sizeof(uint32_t));
    return hn::Load(Words(), words);
  }

  Vector scales(size_t column, size_t chunk) const {
    const Vector scales = of_lanes(matrix_.scales, column, chunk);
    // The other lanes have scales of the next column, which may not be finite.
    return chunk < whole_ ? scales : hn::IfThenElseZero(is_in_rest_, scales);
  }

  Vector zeros(size_t column, size_t chunk) const { return of_lanes(matrix_.zeros, column, chunk); }

 private:
  using Lookup = decltype(hn::SetTableIndices(Floats(), static_cast<const int32_t*>(nullptr)));

  static Lookup block_of_lanes(size_t block) {
    alignas(64) int32_t blocks[kLanes];
    for (size_t i = 0; i < kLanes; ++i) blocks[i] = static_cast<int32_t>(i * kPerWord / block);
    return hn::SetTableIndices(Floats(), blocks);
  }

  // Gives each lane the parameter of its block.
  Vector of_lanes(const float* parameters, size_t column, size_t chunk) const {
    const size_t first = column * matrix_.blocks() + chunk * kChunk / matrix_.block;
    return hn::TableLookupLanes(hn::LoadU(Floats(), parameters + first), block_of_lane_);
  }

  const FourBitMatrix& matrix_;
  const size_t whole_, rest_;  // the chunks that are whole, and the lanes of one that is not
  const hn::Mask<Floats> is_in_rest_;
  const Lookup block_of_lane_;
};

// Returns the lowest 4 bits of each word, less `zero`.
HWY_INLINE Vector weights_of(WordVector words, Vector zero) {
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
  // The instruction ignores the other bits of an index.
  const Vector numbers{_mm512_permutexvar_ps(words.raw, hn::Iota(Floats(), 0.0f).raw)};
#else
  const auto bits = hn::And(words, hn::Set(Words(), 15));
  const Vector numbers = hn::ConvertTo(Floats(), hn::BitCast(Indices(), bits));
#endif
  return hn::Sub(numbers, zero);
}

// Without zero points the table itself is less by the middle.
HWY_INLINE Vector weights_of(WordVector words) {
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
  return Vector{_mm512_permutexvar_ps(words.raw, hn::Iota(Floats(), -kMiddle).raw)};
#else
  return weights_of(words, hn::Set(Floats(), kMiddle));
#endif
}

// Multiplies kRows rows by kColumns columns, from `column` on.
template <size_t kRows, size_t kColumns, bool kHasZeros>
void multiply_tile(const Columns& columns, const float* rows, size_t row_size, size_t column,
                   float* to, size_t to_step) {
  const Floats d;
  Vector sums[kRows][kColumns];
  for (auto& row : sums)
    for (Vector& sum : row) sum = hn::Zero(d);
  for (size_t chunk = 0; chunk < columns.chunks(); ++chunk, rows += kChunk) {
    WordVector words[kColumns];
    Vector zeros[kColumns], parts[kRows][kColumns];
    for (size_t c = 0; c < kColumns; ++c) {
      words[c] = columns.words(column + c, chunk);
      if constexpr (kHasZeros) zeros[c] = columns.zeros(column + c, chunk);
      for (size_t r = 0; r < kRows; ++r) parts[r][c] = hn::Zero(d);
    }
    for (size_t i = 0; i < kPerWord; ++i) {
      Vector x[kRows];
      for (size_t r = 0; r < kRows; ++r) {
        x[r] = hn::LoadU(d, rows + r * row_size + i * kLanes);
        keep_in_register(x[r]);
      }
      for (size_t c = 0; c < kColumns; ++c) {
        Vector weights;
        if constexpr (kHasZeros)
          weights = weights_of(words[c], zeros[c]);
        else
          weights = weights_of(words[c]);
        for (size_t r = 0; r < kRows; ++r) parts[r][c] = hn::MulAdd(weights, x[r], parts[r][c]);
        words[c] = hn::ShiftRight<4>(words[c]);
      }
    }
    for (size_t c = 0; c < kColumns; ++c) {
      const Vector scales = columns.scales(column + c, chunk);
      for (size_t r = 0; r < kRows; ++r) sums[r][c] = hn::MulAdd(parts[r][c], scales, sums[r][c]);
    }
  }
  for (size_t r = 0; r < kRows; ++r)
    for (size_t c = 0; c < kColumns; ++c)
      to[r * to_step + column + c] = hn::GetLane(hn::SumOfLanes(d, sums[r][c]));
}

// Multiplies kRows rows by all columns of the result, kColumns at a time.
template <size_t kRows, size_t kColumns, bool kHasZeros>
void multiply_rows(const FourBitMatrix& matrix, const float* rows, float* to,
                   const FourBitResult& result) {
  const Columns columns(matrix);
  const size_t size = arranged_size(matrix), end = result.first + result.count;
  size_t column = result.first;
  for (; column + kColumns <= end; column += kColumns)
    multiply_tile<kRows, kColumns, kHasZeros>(columns, rows, size, column, to, result.all);
  for (; column < end; ++column)
    multiply_tile<kRows, 1, kHasZeros>(columns, rows, size, column, to, result.all);
}

template <bool kHasZeros>
void multiply_all(const FourBitMatrix& matrix, const float* rows, size_t row_count,
                  const FourBitResult& result) {
  constexpr size_t kRowsAtOnce = 4;
  const size_t size = arranged_size(matrix);
  size_t row = 0;
  for (; row + kRowsAtOnce <= row_count; row += kRowsAtOnce)
    multiply_rows<kRowsAtOnce, 2, kHasZeros>(matrix, rows + row * size,
                                             result.to + row * result.all, result);
  for (; row < row_count; ++row)
    multiply_rows<1, 4, kHasZeros>(matrix, rows + row * size, result.to + row * result.all, result);
}

void run(const FourBitMatrix& matrix, const float* rows, size_t row_count,
         const FourBitResult& result) {
  if (matrix.zeros != nullptr)
    multiply_all<true>(matrix, rows, row_count, result);
  else
    multiply_all<false>(matrix, rows, row_count, result);
}

void arrange(const FourBitMatrix& matrix, const float* from, float* to) {
  std::fill_n(to, arranged_size(matrix), 0.0f);
  for (size_t k = 0; k < matrix.depth; ++k)
    to[k / kChunk * kChunk + k % kPerWord * kLanes + k % kChunk / kPerWord] = from[k];
}

}  // namespace
}  // namespace millrace::device::cpu::accelerated::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace millrace::device::cpu::accelerated {

HWY_EXPORT(arrange);
HWY_EXPORT(run);

void arrange_row(const FourBitMatrix& matrix, const float* from, float* to) noexcept {
  HWY_DYNAMIC_DISPATCH(arrange)(matrix, from, to);
}

void multiply(const FourBitMatrix& matrix, const float* rows, size_t row_count,
              const FourBitResult& result) noexcept {
  HWY_DYNAMIC_DISPATCH(run)(matrix, rows, row_count, result);
}

}  // namespace millrace::device::cpu::accelerated
#endif  // HWY_ONCE
