// The transformations that operators of ai.onnx.ml apply to the scores of a row.
#pragma once

#include <span>
#include <string_view>

#include "base/status.h"

namespace millrace::fallback {

// As TreeEnsemble numbers them.
enum class PostTransform : uint8_t { kNone, kSoftmax, kLogistic, kSoftmaxZero, kProbit };

// By the standard's name for it; kInvalidArgument: there is none of that name.
Result<PostTransform> post_transform_of(std::string_view name);

double logistic(double score) noexcept;

// kSoftmaxZero keeps scores of zero, and takes the softmax of the others.
void transform_scores(PostTransform transform, std::span<double> scores) noexcept;

}  // namespace millrace::fallback
