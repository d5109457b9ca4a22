// The network of the sample: a decoder of a language model with random weights, in ONNX. Equal
// options give equal bytes, so that results can be compared with those of other runtimes.
//
// Inputs: `tokens` [1, length], `start` [1], the position of the first of them, `last` [1], the
// index of the token whose successor is wanted, and for each layer the keys and values of all
// positions, [1, context, kv_heads * head_size]. Outputs: `logits` [1, vocabulary], and the keys
// and values with those of the tokens written at their positions. Tokens and numbers are INT64, all
// else is FLOAT32.
#pragma once

#include <cstdint>
#include <string>

namespace millrace::decoder {

// How the matrices of weights are stored.
enum class Weights { kFloat32, kInt8, kInt4 };

struct DecoderOptions {
  int64_t layers = 4;
  int64_t width = 256;         // a multiple of 32 * heads
  int64_t heads = 8;           // of the queries
  int64_t kv_heads = 2;        // of the keys and values; divides `heads`
  int64_t feed_forward = 768;  // the inner width of the feed-forward layers, a multiple of 32
  int64_t vocabulary = 512;
  int64_t context = 256;  // the most positions of a sequence
  Weights weights = Weights::kFloat32;
  uint32_t seed = 1;
};

// Returns the model as the bytes of an ONNX file. Throws std::invalid_argument for options that do
// not fit together, and std::runtime_error if the model is too large for a file.
std::string decoder_network(const DecoderOptions& options);

}  // namespace millrace::decoder
