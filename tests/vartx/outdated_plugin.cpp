// A plugin that was built for another version of the functions.
#include <memory>

#include "vart/vart_postprocess_function_base.hpp"

namespace {

class Outdated : public vart::PostProcessFunctionBase {
 public:
  std::vector<std::shared_ptr<vart::InferResult>> process(
      const std::vector<std::vector<float>>&) override {
    return {};
  }
};

}  // namespace

extern "C" __attribute__((visibility("default"))) unsigned millrace_postprocess_plugin() {
  vart::PostProcessRegistry::add("outdated", [] { return std::make_shared<Outdated>(); });
  vart::PostProcessRegistry::add(vart::PostProcessType::ARGMAX,
                                 [] { return std::make_shared<Outdated>(); });
  return vart::PostProcessRegistry::kVersion + 1;
}
