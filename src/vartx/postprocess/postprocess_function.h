// PostProcessFunction: one postprocessing function, configured and fitted to a model's tensors.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "vart/vart_inferresult.hpp"
#include "vart/vart_postprocess_types.hpp"
#include "vartx/postprocess/model_tensors.h"
#include "vartx/postprocess/postprocess_config.h"

namespace millrace::vartx {

using FrameResults = std::vector<std::shared_ptr<::vart::InferResult>>;

class PostProcessFunction {
 public:
  virtual ~PostProcessFunction() = default;
  // The results of one frame, best first. `outputs` are the elements of each output tensor; the
  // function may change them. To be called from one thread at a time.
  virtual FrameResults process(std::span<const std::span<float>> outputs) const = 0;
};

// Throws std::invalid_argument for a type that has no function, and for tensors that do not fit the
// configuration. The configuration must outlive the function.
std::unique_ptr<PostProcessFunction> make_function(::vart::PostProcessType type,
                                                   const PostProcessConfig& config,
                                                   const ModelTensors& tensors);

// The three kinds, of the types that belong to them.
std::unique_ptr<PostProcessFunction> make_classification(::vart::PostProcessType type,
                                                         const PostProcessConfig& config,
                                                         const ModelTensors& tensors);
std::unique_ptr<PostProcessFunction> make_detection(::vart::PostProcessType type,
                                                    const PostProcessConfig& config,
                                                    const ModelTensors& tensors);
std::unique_ptr<PostProcessFunction> make_segmentation(::vart::PostProcessType type,
                                                       const PostProcessConfig& config,
                                                       const ModelTensors& tensors);

}  // namespace millrace::vartx
