// Steps of the sample's decoder through VART and through NRT. The caches stay in their tensors from
// step to step: a tensor is bound both as the past and as the present one.
//
// VartDecoder, NrtDecoder: what the sequences of a decoder share. VartSteps, NrtSteps: the tensors
// of one sequence, for one thread. Steps of several sequences may be in flight.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

#include "nrt/nrt.h"
#include "nrt/nrt_async.h"
#include "tests/samples/decode_fixture.h"
#include "vart/vart_runner_factory.hpp"

namespace millrace::test {

// A step in two parts: run() is submit(), and then wait(), in one call of the API.
class AsyncSteps : public Steps {
 public:
  virtual void submit(const Tokens& tokens, int64_t start) = 0;
  // Waits for the step that was submitted last, and returns its logits.
  virtual std::vector<float> wait() = 0;
};

// Whether the present keys and values are written to the tensors of the past ones, or to others.
// With others each step begins with the caches as they are at the beginning.
enum class Caches { kInPlace, kSeparate };

struct VartDecoder {
  // With `may_convert`, tensors may be in another precision than the device's.
  explicit VartDecoder(const std::string& archive, bool may_convert = false);

  std::shared_ptr<vart::Runner> prefill, decode;
};

class VartSteps : public AsyncSteps {
 public:
  explicit VartSteps(const VartDecoder& decoder, Caches caches = Caches::kInPlace);

  std::vector<float> run(const Tokens& tokens, int64_t start) override;
  void submit(const Tokens& tokens, int64_t start) override;
  std::vector<float> wait() override;

 private:
  using Tensors = std::vector<std::vector<vart::NpuTensor>>;

  vart::Runner& runner_for(const Tokens& tokens) const;
  // Writes the inputs other than the caches, and returns all.
  Tensors inputs_for(const Tokens& tokens, int64_t start) const;
  std::vector<float> logits() const;

  const VartDecoder decoder_;
  Tensors inputs_{1}, outputs_{1};  // the inputs are those of a prefill
  std::vector<vart::NpuTensor> token_;
  vart::Runner* running_ = nullptr;
  vart::JobHandle job_;
};

// Between nrt_init and nrt_close, with a decoder on each of the cores.
class NrtDecoder {
 public:
  explicit NrtDecoder(const std::string& archive, int cores = 1);
  ~NrtDecoder();
  NrtDecoder(const NrtDecoder&) = delete;
  NrtDecoder& operator=(const NrtDecoder&) = delete;

  nrt_model_t* prefill(int core) const { return models_.at(core).prefill; }
  nrt_model_t* decode(int core) const { return models_.at(core).decode; }

 private:
  struct Models {
    nrt_model_t *prefill = nullptr, *decode = nullptr;
  };

  std::vector<Models> models_;  // by core
};

class NrtSteps : public AsyncSteps {
 public:
  // Requirement: the decoder outlives the steps; its context has `context` positions.
  explicit NrtSteps(const NrtDecoder& decoder, int core = 0, Caches caches = Caches::kInPlace,
                    int64_t context = kOptions.context);
  ~NrtSteps() override;
  NrtSteps(const NrtSteps&) = delete;
  NrtSteps& operator=(const NrtSteps&) = delete;

  std::vector<float> run(const Tokens& tokens, int64_t start) override;
  void submit(const Tokens& tokens, int64_t start) override;
  std::vector<float> wait() override;

 private:
  struct Variant {
    nrt_model_t* model = nullptr;
    nrt_tensor_set_t *inputs = nullptr, *outputs = nullptr;
    nrt_tensor_t* tokens = nullptr;
  };

  nrt_tensor_t* add(const std::string& name, size_t bytes,
                    std::initializer_list<nrt_tensor_set_t*> sets);
  void add_cache(const std::string& name, Caches caches, int64_t context);
  const Variant& variant_for(const Tokens& tokens) const;
  // Writes the inputs other than the caches.
  void write_inputs(const Tokens& tokens, int64_t start);
  std::vector<float> logits() const;

  const int core_;
  Variant prefill_, decode_;
  nrt_tensor_t *start_ = nullptr, *last_ = nullptr, *logits_ = nullptr;
  std::vector<nrt_tensor_t*> tensors_;
  nrta_seq_t sequence_ = 0;
  NRT_STATUS status_ = NRT_SUCCESS;
};

}  // namespace millrace::test
