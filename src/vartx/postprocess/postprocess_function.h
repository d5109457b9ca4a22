// PostProcessFunction: a postprocessing function for one type, configured for a model's tensors.
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
  // Returns the results of one frame, the best first. `outputs` has the elements of each output
  // tensor, which the function may modify. Not thread-safe.
  virtual FrameResults process(std::span<const std::span<float>> outputs) const = 0;
};

// Makes the function for a type. Throws std::invalid_argument for an undefined type, and for
// tensors that do not match the configuration. The configuration is borrowed and must outlive the
// function.
std::unique_ptr<PostProcessFunction> make_function(::vart::PostProcessType type,
                                                   const PostProcessConfig& config,
                                                   const ModelTensors& tensors);

// Make the functions of the three kinds of results. Requirement: the type is one of that kind.
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
