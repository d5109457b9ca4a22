// A plugin with a postprocessing function, as users write one.
#include <algorithm>
#include <memory>

#include "vart/vart_postprocess_function_base.hpp"

namespace {

// Finds the largest element of the first output.
class Brightest : public vart::PostProcessFunctionBase {
 public:
  std::vector<std::shared_ptr<vart::InferResult>> process(
      const std::vector<std::vector<float>>& outputs) override {
    const std::vector<float>& values = outputs.at(0);
    const auto best = std::max_element(values.begin(), values.end());
    auto result = std::make_shared<vart::InferResult>(vart::InferResultType::CLASSIFICATION);
    auto& classes = static_cast<vart::ClassificationResData&>(*result->get_infer_result());
    classes.index = {static_cast<uint32_t>(best - values.begin())};
    classes.confidence = {*best};
    classes.label = {"brightest"};
    return {result};
  }
};

}  // namespace

extern "C" __attribute__((visibility("default"))) unsigned millrace_postprocess_plugin() {
  vart::PostProcessRegistry::add("brightest", [] { return std::make_shared<Brightest>(); });
  return vart::PostProcessRegistry::kVersion;
}
