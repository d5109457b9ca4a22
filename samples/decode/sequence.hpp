// Decoder: a decoder's archive, loaded in its two profiles. Sequence: the tokens of one text, and
// the buffers with its keys and values.
//
// The keys and values stay in their buffers: each job binds a buffer as the past and the present
// tensor, and the device writes the rows of the new tokens only. A decoder may be used by several
// threads, a sequence by one at a time.
#pragma once

#include <cstdint>
#include <millrace/millrace.hpp>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace millrace::decoder {

// Throws std::runtime_error if the status is not OK.
void check(const Status& status);

// Returns the value, or throws std::runtime_error with the status.
template <class T>
T take(Result<T> result) {
  check(result.status());
  return *std::move(result);
}

class Decoder {
 public:
  // Throws std::runtime_error if the archive cannot be loaded, or is no decoder as make_decoder
  // writes it with the profiles "prefill" and "decode".
  Decoder(const Device& device, const std::string& archive);

  const Model& prefill() const { return prefill_; }
  const Model& decode() const { return decode_; }
  size_t prefill_length() const { return prefill_length_; }
  size_t context() const { return context_; }
  size_t vocabulary() const { return vocabulary_; }

 private:
  Model prefill_, decode_;
  size_t prefill_length_ = 0, context_ = 0, vocabulary_ = 0;
};

class Sequence {
 public:
  // Requirement: the decoder outlives the sequence, and the prompt is not empty.
  Sequence(const Decoder& decoder, std::span<const int64_t> prompt);

  // Submits the job that follows: of the next part of the prompt, or of the token that was appended
  // last. Throws std::runtime_error if the unit refuses it. Requirement: no job is in flight, and
  // is_full() is false.
  void submit(Unit& unit);
  // Waits for the job. Throws std::runtime_error if it failed.
  void wait();
  // Whether the jobs so far have read all tokens, so that logits() tells the next one.
  bool is_read() const { return read_ == tokens_.size(); }
  std::span<const float> logits() const { return logits_.span<float>(); }
  void append(int64_t token) { tokens_.push_back(token); }

  const std::vector<int64_t>& tokens() const { return tokens_; }
  // Whether there is no room for another token.
  bool is_full() const { return tokens_.size() >= decoder_.context(); }

 private:
  const Decoder& decoder_;
  std::vector<int64_t> tokens_;
  size_t read_ = 0;     // tokens whose keys and values are in the caches
  size_t pending_ = 0;  // tokens that the job in flight reads
  Buffer input_, start_, last_, logits_;
  std::vector<Buffer> caches_;
  std::vector<TensorArg> inputs_, outputs_;
  Job job_;
};

}  // namespace millrace::decoder
