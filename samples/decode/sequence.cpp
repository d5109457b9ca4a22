#include "samples/decode/sequence.hpp"

#include <algorithm>
#include <stdexcept>

namespace millrace::decoder {

// The inputs before the caches: the tokens, the position of the first, and the index of the last.
constexpr size_t kTokens = 0, kStart = 1, kLast = 2, kFirstCache = 3;
// The outputs before the caches: the logits.
constexpr size_t kLogits = 0;

void check(const Status& status) {
  if (!status.ok()) throw std::runtime_error(status.to_string());
}

namespace {

Model load(const Device& device, const std::string& archive, const char* profile) {
  LoadOptions options;
  options.shape_profile = profile;
  return take(device.load(archive, options));
}

bool is_decoder(const Model& model) {
  const auto inputs = model.inputs();
  const auto outputs = model.outputs();
  return inputs.size() > kFirstCache && outputs.size() == inputs.size() - kFirstCache + 1 &&
         inputs[kTokens].name == "tokens" && inputs[kStart].name == "start" &&
         inputs[kLast].name == "last" && outputs[kLogits].name == "logits";
}

}  // namespace

Decoder::Decoder(const Device& device, const std::string& archive)
    : prefill_(load(device, archive, "prefill")), decode_(load(device, archive, "decode")) {
  if (!is_decoder(prefill_) || decode_.inputs()[kTokens].cpu.elements != 1)
    throw std::runtime_error(archive + " is no decoder that make_decoder writes");
  prefill_length_ = prefill_.inputs()[kTokens].cpu.elements;
  context_ = prefill_.inputs()[kFirstCache].cpu.shape[1];
  vocabulary_ = prefill_.outputs()[kLogits].cpu.elements;
}

Sequence::Sequence(const Decoder& decoder, std::span<const int64_t> prompt)
    : decoder_(decoder),
      tokens_(prompt.begin(), prompt.end()),
      input_(take(Buffer::allocate(decoder.prefill_length() * sizeof(int64_t)))),
      start_(take(Buffer::allocate(sizeof(int64_t)))),
      last_(take(Buffer::allocate(sizeof(int64_t)))),
      logits_(take(Buffer::allocate(decoder.vocabulary() * sizeof(float)))),
      inputs_{input_, start_, last_},
      outputs_{logits_} {
  for (const TensorInfo& cache : decoder.prefill().inputs().subspan(kFirstCache)) {
    caches_.push_back(take(Buffer::allocate(cache.cpu.bytes)));
    inputs_.emplace_back(caches_.back());
    outputs_.emplace_back(caches_.back());
  }
}

void Sequence::submit(Unit& unit) {
  // A prefill writes keys and values for all its positions. Those after the last token are hidden
  // until later jobs overwrite them, but they need room, too.
  const size_t left = tokens_.size() - read_;
  const bool is_prefill = left > 1 && read_ + decoder_.prefill_length() <= decoder_.context();
  pending_ = is_prefill ? std::min(left, decoder_.prefill_length()) : 1;
  const std::span<int64_t> input = input_.span<int64_t>();
  std::ranges::fill(input, 0);
  std::copy_n(tokens_.begin() + static_cast<std::ptrdiff_t>(read_), pending_, input.begin());
  start_.span<int64_t>()[0] = static_cast<int64_t>(read_);
  last_.span<int64_t>()[0] = static_cast<int64_t>(pending_) - 1;
  job_ = take(unit.submit(is_prefill ? decoder_.prefill() : decoder_.decode(),
                          {.inputs = inputs_, .outputs = outputs_}));
}

void Sequence::wait() {
  check(job_.wait());
  read_ += pending_;
}

}  // namespace millrace::decoder
