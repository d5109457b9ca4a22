#include "tests/samples/decode_steps.h"

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <thread>

namespace millrace::test {
namespace {

constexpr vart::TensorType kCpu = vart::TensorType::CPU;
constexpr uint32_t kMostInFlight = 3;  // sequences

std::shared_ptr<vart::Runner> make_runner(const std::string& archive, const char* profile,
                                          bool may_convert) {
  return vart::RunnerFactory::create_runner(vart::RunnerType::VAIML, archive,
                                            {{"input_tensor_type", std::string("CPU")},
                                             {"output_tensor_type", std::string("CPU")},
                                             {"strict_zero_copy", !may_convert},
                                             {"max_concurrent_runs", kMostInFlight},
                                             {"shape_profile", std::string(profile)}});
}

nrt_model_t* load_profile(const std::string& archive, const char* profile, int core) {
  std::ifstream file(archive, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  setenv("MILLRACE_PROFILE", profile, 1);
  nrt_model_t* model = nullptr;
  EXPECT_EQ(nrt_load(bytes.data(), bytes.size(), core, 1, &model), NRT_SUCCESS);
  unsetenv("MILLRACE_PROFILE");
  return model;
}

void write_all(nrt_tensor_t* tensor, const void* data, size_t bytes) {
  EXPECT_EQ(nrt_tensor_write(tensor, data, 0, bytes), NRT_SUCCESS);
}

}  // namespace

VartDecoder::VartDecoder(const std::string& archive, bool may_convert)
    : prefill(make_runner(archive, "prefill", may_convert)),
      decode(make_runner(archive, "decode", may_convert)) {}

VartSteps::VartSteps(const VartDecoder& decoder, Caches caches) : decoder_(decoder) {
  using vart::TensorDirection;
  const vart::Runner& prefill = *decoder_.prefill;
  const auto& inputs = prefill.get_tensors_info(TensorDirection::INPUT, kCpu);
  for (size_t i = 0; i < 3; ++i) inputs_[0].push_back(prefill.allocate_npu_tensor(inputs[i]));
  for (const auto& info : prefill.get_tensors_info(TensorDirection::OUTPUT, kCpu))
    outputs_[0].push_back(prefill.allocate_npu_tensor(info));
  for (size_t i = 3; i < inputs.size(); ++i)
    inputs_[0].push_back(caches == Caches::kInPlace ? outputs_[0][i - 2]
                                                    : prefill.allocate_npu_tensor(inputs[i]));
  token_ = {decoder_.decode->allocate_npu_tensor(
      decoder_.decode->get_tensors_info(TensorDirection::INPUT, kCpu)[0])};
}

vart::Runner& VartSteps::runner_for(const Tokens& tokens) const {
  return tokens.size() > 1 ? *decoder_.prefill : *decoder_.decode;
}

VartSteps::Tensors VartSteps::inputs_for(const Tokens& tokens, int64_t start) const {
  Tensors inputs = inputs_;
  if (tokens.size() == 1) inputs[0][0] = token_[0];
  const int64_t last = static_cast<int64_t>(tokens.size()) - 1;
  const Tokens read = padded(tokens);
  std::memcpy(inputs[0][0].get_virtual_address(), read.data(), read.size() * sizeof(int64_t));
  std::memcpy(inputs[0][1].get_virtual_address(), &start, sizeof(start));
  std::memcpy(inputs[0][2].get_virtual_address(), &last, sizeof(last));
  return inputs;
}

std::vector<float> VartSteps::logits() const {
  std::vector<float> logits(kOptions.vocabulary);
  std::memcpy(logits.data(), outputs_[0][0].get_virtual_address(), logits.size() * sizeof(float));
  return logits;
}

std::vector<float> VartSteps::run(const Tokens& tokens, int64_t start) {
  EXPECT_EQ(runner_for(tokens).execute(inputs_for(tokens, start), outputs_),
            vart::StatusCode::SUCCESS);
  return logits();
}

void VartSteps::submit(const Tokens& tokens, int64_t start) {
  running_ = &runner_for(tokens);
  job_ = running_->execute_async(inputs_for(tokens, start), outputs_);
  EXPECT_EQ(job_.status, vart::StatusCode::SUCCESS);
}

std::vector<float> VartSteps::wait() {
  EXPECT_EQ(running_->wait(job_, std::chrono::milliseconds(-1)), vart::StatusCode::SUCCESS);
  return logits();
}

NrtDecoder::NrtDecoder(const std::string& archive, int cores) {
  setenv("MILLRACE_NRT_CORES", std::to_string(cores).c_str(), 1);
  EXPECT_EQ(nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, "", ""), NRT_SUCCESS);
  for (int core = 0; core < cores; ++core)
    models_.push_back(
        {load_profile(archive, "prefill", core), load_profile(archive, "decode", core)});
}

NrtDecoder::~NrtDecoder() {
  for (const Models& models : models_) {
    nrt_unload(models.prefill);
    nrt_unload(models.decode);
  }
  nrt_close();
  unsetenv("MILLRACE_NRT_CORES");
}

NrtSteps::NrtSteps(const NrtDecoder& decoder, int core, Caches caches, int64_t context)
    : core_(core) {
  prefill_.model = decoder.prefill(core);
  decode_.model = decoder.decode(core);
  for (Variant* variant : {&prefill_, &decode_}) {
    EXPECT_EQ(nrt_allocate_tensor_set(&variant->inputs), NRT_SUCCESS);
    EXPECT_EQ(nrt_allocate_tensor_set(&variant->outputs), NRT_SUCCESS);
    const size_t length = variant == &prefill_ ? kPrefill : 1;
    variant->tokens = add("tokens", length * sizeof(int64_t), {variant->inputs});
  }
  start_ = add("start", sizeof(int64_t), {prefill_.inputs, decode_.inputs});
  last_ = add("last", sizeof(int64_t), {prefill_.inputs, decode_.inputs});
  logits_ = add("logits", kOptions.vocabulary * sizeof(float), {prefill_.outputs, decode_.outputs});
  for (int64_t layer = 0; layer < kOptions.layers; ++layer)
    for (const std::string& name :
         {"key_" + std::to_string(layer), "value_" + std::to_string(layer)})
      add_cache(name, caches, context);
}

NrtSteps::~NrtSteps() {
  for (Variant* variant : {&prefill_, &decode_}) {
    nrt_destroy_tensor_set(&variant->inputs);
    nrt_destroy_tensor_set(&variant->outputs);
  }
  for (nrt_tensor_t* tensor : tensors_) nrt_tensor_free(&tensor);
}

nrt_tensor_t* NrtSteps::add(const std::string& name, size_t bytes,
                            std::initializer_list<nrt_tensor_set_t*> sets) {
  nrt_tensor_t* tensor = nullptr;
  EXPECT_EQ(nrt_tensor_allocate(NRT_TENSOR_PLACEMENT_DEVICE, core_, bytes, name.c_str(), &tensor),
            NRT_SUCCESS);
  for (nrt_tensor_set_t* set : sets)
    EXPECT_EQ(nrt_add_tensor_to_tensor_set(set, name.c_str(), tensor), NRT_SUCCESS);
  tensors_.push_back(tensor);
  return tensor;
}

void NrtSteps::add_cache(const std::string& name, Caches caches, int64_t context) {
  const size_t bytes =
      context * kOptions.width / kOptions.heads * kOptions.kv_heads * sizeof(float);
  nrt_tensor_t* const past = add("past_" + name, bytes, {prefill_.inputs, decode_.inputs});
  const std::string present = "present_" + name;
  if (caches == Caches::kSeparate) {
    add(present, bytes, {prefill_.outputs, decode_.outputs});
    return;
  }
  for (const Variant* variant : {&prefill_, &decode_})
    EXPECT_EQ(nrt_add_tensor_to_tensor_set(variant->outputs, present.c_str(), past), NRT_SUCCESS);
}

const NrtSteps::Variant& NrtSteps::variant_for(const Tokens& tokens) const {
  return tokens.size() > 1 ? prefill_ : decode_;
}

void NrtSteps::write_inputs(const Tokens& tokens, int64_t start) {
  const int64_t last = static_cast<int64_t>(tokens.size()) - 1;
  const Tokens read = padded(tokens);
  write_all(variant_for(tokens).tokens, read.data(), read.size() * sizeof(int64_t));
  write_all(start_, &start, sizeof(start));
  write_all(last_, &last, sizeof(last));
}

std::vector<float> NrtSteps::logits() const {
  std::vector<float> logits(kOptions.vocabulary);
  EXPECT_EQ(nrt_tensor_read(logits_, logits.data(), 0, logits.size() * sizeof(float)), NRT_SUCCESS);
  return logits;
}

std::vector<float> NrtSteps::run(const Tokens& tokens, int64_t start) {
  write_inputs(tokens, start);
  const Variant& variant = variant_for(tokens);
  EXPECT_EQ(nrt_execute(variant.model, variant.inputs, variant.outputs), NRT_SUCCESS);
  return logits();
}

void NrtSteps::submit(const Tokens& tokens, int64_t start) {
  write_inputs(tokens, start);
  const Variant& variant = variant_for(tokens);
  EXPECT_EQ(nrta_execute_schedule(variant.model, variant.inputs, variant.outputs, 0, &status_,
                                  &sequence_),
            NRT_SUCCESS);
}

std::vector<float> NrtSteps::wait() {
  bool is_completed = false;
  while (nrta_is_completed(sequence_, &is_completed) == NRT_SUCCESS && !is_completed)
    std::this_thread::yield();
  EXPECT_TRUE(is_completed);
  EXPECT_EQ(status_, NRT_SUCCESS);
  return logits();
}

}  // namespace millrace::test
