// WordConvEmbedding of com.microsoft: a vector for each word from the vectors of its characters, by
// a convolution over the characters, tanh, and the maximum over their positions.
//
// Operands: the characters [words, most characters] of INT32, of which 0 is none; the filters
// [filters, 1, window, size]; their biases [filters]; the vectors of the characters [characters,
// size]. Output: [words, filters]; 0 for a word without characters.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "fallback/common_shapes.h"
#include "fallback/element.h"
#include "fallback/families.h"

namespace millrace::fallback {
namespace {

constexpr size_t kCharacters = 0, kFilters = 1, kFilterBiases = 2, kVectors = 3;

// Whether a size that an attribute may state, -1 if it does not, is that of an operand.
bool is_size(const NodeView& node, const char* attribute, int64_t size) {
  const int64_t stated = node.integer(attribute, -1);
  return stated == -1 || stated == size;
}

Status shape_of_word_embedding(Inference& node) {
  const auto characters = node.in(kCharacters).dims, filters = node.in(kFilters).dims,
             vectors = node.in(kVectors).dims;
  for (const size_t index : {kFilters, kFilterBiases, kVectors})
    if (node.in(index).type != DataType::kFloat32)
      return invalid_argument("its filters, biases and vectors must be FLOAT32");
  const bool fits = characters.size() == 2 && filters.size() == 4 && vectors.size() == 2 &&
                    filters[1] == 1 && filters[2] >= 1 && filters[2] <= characters[1] &&
                    filters[3] == vectors[1] &&
                    to_dims(node.in(kFilterBiases).dims) == Dims{filters[0]};
  if (!fits)
    return invalid_argument(
        fmt::format("characters {}, filters {}, biases {} and vectors {} do not fit each other",
                    graph::to_string(to_dims(characters)), graph::to_string(to_dims(filters)),
                    graph::to_string(to_dims(node.in(kFilterBiases).dims)),
                    graph::to_string(to_dims(vectors))));
  if (!is_size(node, "embedding_size", filters[0]) ||
      !is_size(node, "conv_window_size", filters[2]) ||
      !is_size(node, "char_embedding_size", filters[3]))
    return invalid_argument("the sizes that its attributes state are not those of its operands");
  node.set(0, DataType::kFloat32, {characters[0], filters[0]});
  return {};
}

// Returns the number of characters of a word, and at least the window of the filters; 0 for a word
// without characters.
size_t characters_read(std::span<const int32_t> word, size_t window) {
  if (word[0] <= 0) return 0;
  const auto count = std::ranges::count_if(word, [](int32_t character) { return character > 0; });
  return std::max(static_cast<size_t>(count), window);
}

class WordEmbedding {
 public:
  explicit WordEmbedding(const Call& call)
      : call_(call),
        window_(static_cast<size_t>(call.in(kFilters).dims[2])),
        size_(static_cast<size_t>(call.in(kFilters).dims[3])) {}

  Status embed(std::span<const int32_t> word, std::span<float> to) const {
    std::ranges::fill(to, 0.0f);
    const auto read = word.first(characters_read(word, window_));
    const int64_t known = call_.in(kVectors).dims[0];
    for (const int32_t character : read)
      if (character < 0 || character >= known)
        return invalid_argument(
            fmt::format("character {} is outside a table of {}", character, known));
    if (read.empty()) return {};
    for (size_t filter = 0; filter < to.size(); ++filter) {
      float most = -1;  // tanh has no lower values
      for (size_t at = 0; at + window_ <= read.size(); ++at) {
        const float value = std::tanh(response(read.subspan(at, window_), filter));
        if (value > most || std::isnan(value)) most = value;
      }
      to[filter] = most;
    }
    return {};
  }

 private:
  float response(std::span<const int32_t> characters, size_t filter) const {
    const float* weight = call_.in(kFilters).as<float>().data() + filter * window_ * size_;
    double sum = static_cast<double>(call_.in(kFilterBiases).as<float>()[filter]);
    for (const int32_t character : characters) {
      const float* element =
          call_.in(kVectors).as<float>().data() + static_cast<size_t>(character) * size_;
      for (size_t i = 0; i < size_; ++i)
        sum += static_cast<double>(*element++) * static_cast<double>(*weight++);
    }
    return static_cast<float>(sum);
  }

  const Call& call_;
  const size_t window_, size_;
};

Status word_embedding(const Call& call) {
  const WordEmbedding embedding(call);
  const auto length = static_cast<size_t>(call.in(kCharacters).dims[1]);
  const auto filters = static_cast<size_t>(call.out(0).dims[1]);
  const auto words = static_cast<size_t>(call.out(0).dims[0]);
  for (size_t word = 0; word < words; ++word)
    MILLRACE_RETURN_IF_ERROR(
        embedding.embed(call.in(kCharacters).as<int32_t>().subspan(word * length, length),
                        call.out(0).as<float>().subspan(word * filters, filters)));
  return {};
}

constexpr AttributeSpec kEmbeddingSizes[] = {{"char_embedding_size", AttributeKind::kInteger},
                                             {"conv_window_size", AttributeKind::kInteger},
                                             {"embedding_size", AttributeKind::kInteger}};

}  // namespace

std::span<const OperatorSpec> word_embedding_operators() noexcept {
  static constexpr OperatorSpec kOperators[] = {
      {"com.microsoft.WordConvEmbedding",
       1,
       {4, 4},
       {},
       {DataType::kInt32},
       shape_of_word_embedding,
       word_embedding,
       kEmbeddingSizes},
  };
  return kOperators;
}

}  // namespace millrace::fallback
