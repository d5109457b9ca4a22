// The post-transforms that operators of ai.onnx.ml apply to the scores of a row. Thread-safe.
#pragma once

#include <span>
#include <string_view>

#include "base/status.h"

namespace millrace::fallback {

// The numbers are those of TreeEnsemble.
enum class PostTransform : uint8_t { kNone, kSoftmax, kLogistic, kSoftmaxZero, kProbit };

// Returns the post-transform with that name in the standard; kInvalidArgument if there is none.
Result<PostTransform> post_transform_of(std::string_view name);

double logistic(double score) noexcept;

// Applies a post-transform in place. kSoftmaxZero keeps scores of 0 and applies the softmax to the
// others.
void transform_scores(PostTransform transform, std::span<double> scores) noexcept;

}  // namespace millrace::fallback
