// Elementwise post-ops. oneDNN 2.6 generates code for each algorithm of a chain once, with the
// parameters of its first use: x * 2 followed by x + 5 becomes x * 2 * 2. So a function whose
// algorithm is in the chain already is merged with the earlier one.
#include <algorithm>
#include <cmath>
#include <utility>

#include "device/cpu/dnnl/attributes.h"

namespace millrace::device::cpu {

#if DNNL_VERSION_MAJOR == 2

namespace {

using dnnl::algorithm;

// One entry of a chain: it computes factor * function(x).
struct Scaled {
  Eltwise function;
  float factor;
};

bool is_eltwise(const dnnl::post_ops& chain, int index) {
  return chain.kind(index) == dnnl::primitive::kind::eltwise;
}

Scaled eltwise_at(const dnnl::post_ops& chain, int index) {
  Scaled entry{};
  auto& [function, factor] = entry;
  chain.get_params_eltwise(index, factor, function.algorithm, function.alpha, function.beta);
  return entry;
}

void append(dnnl::post_ops& chain, const Scaled& entry) {
  const auto& [function, factor] = entry;
  chain.append_eltwise(factor, function.algorithm, function.alpha, function.beta);
}

void append_copy(dnnl::post_ops& chain, const dnnl::post_ops& from, int index) {
  if (is_eltwise(from, index)) return append(chain, eltwise_at(from, index));
  if (from.kind(index) == dnnl::primitive::kind::sum) {
    float scale = 1;
    int32_t zero_point = 0;
    auto type = dnnl::memory::data_type::undef;
    from.get_params_sum(index, scale, zero_point, type);
    return chain.append_sum(scale, zero_point, type);
  }
  algorithm binary{};
  dnnl::memory::desc operand;
  from.get_params_binary(index, binary, operand);
  chain.append_binary(binary, operand);
}

void replace(dnnl::post_ops& chain, int index, const Scaled& entry) {
  dnnl::post_ops result;
  for (int i = 0; i < chain.len(); ++i) {
    if (i == index)
      append(result, entry);
    else
      append_copy(result, chain, i);
  }
  chain = std::move(result);
}

bool is_integer(float number) {
  return std::trunc(number) == number;
}

// Moves slope * x + offset from the end of the chain to the linear function in it.
bool merge_linear(dnnl::post_ops& chain, float slope, float offset) {
  for (int i = chain.len() - 1; i >= 0 && is_eltwise(chain, i); --i) {
    auto [function, factor] = eltwise_at(chain, i);
    if (function.algorithm == algorithm::eltwise_linear) {
      slope *= factor;
      replace(
          chain, i,
          {{algorithm::eltwise_linear, slope * function.alpha, slope * function.beta + offset}, 1});
      return true;
    }
    if (function.algorithm == algorithm::eltwise_clip) {
      slope *= factor;
      const auto [least, most] =
          std::minmax({slope * function.alpha + offset, slope * function.beta + offset});
      replace(chain, i, {{algorithm::eltwise_clip, least, most}, 1});
    } else if (function.algorithm != algorithm::eltwise_round || factor != 1 || slope != 1 ||
               !is_integer(offset)) {
      return false;
    }
  }
  return false;
}

// Moves the bounds at the end of the chain to the entry that has bounds. Rounding keeps integer
// bounds; it takes over the factor that follows it.
bool merge_clip(dnnl::post_ops& chain, const Scaled& last) {
  const float least = last.function.alpha, most = last.function.beta;
  const int end = chain.len() - 1;
  if (end < 0 || !is_eltwise(chain, end)) return false;
  const Scaled before = eltwise_at(chain, end);
  const bool is_rounded = before.function.algorithm == algorithm::eltwise_round;
  if (is_rounded && (before.factor != 1 || !is_integer(least) || !is_integer(most))) return false;
  const int index = is_rounded ? end - 1 : end;
  if (index < 0 || !is_eltwise(chain, index)) return false;
  auto [function, factor] = eltwise_at(chain, index);
  if (function.algorithm != algorithm::eltwise_clip || factor <= 0) return false;
  function.alpha = std::clamp(function.alpha, least / factor, most / factor);
  function.beta = std::clamp(function.beta, least / factor, most / factor);
  if (is_rounded) replace(chain, end, {before.function, last.factor});
  replace(chain, index, {function, is_rounded ? factor : factor * last.factor});
  return true;
}

// Returns whether the chain has the algorithm with other parameters.
bool clashes(const dnnl::post_ops& chain, const Scaled& entry) {
  for (int i = 0; i < chain.len(); ++i) {
    if (!is_eltwise(chain, i)) continue;
    const auto [function, factor] = eltwise_at(chain, i);
    if (function.algorithm == entry.function.algorithm &&
        (function.alpha != entry.function.alpha || function.beta != entry.function.beta ||
         factor != entry.factor))
      return true;
  }
  return false;
}

bool merge(dnnl::post_ops& chain, const Scaled& entry) {
  const auto& [function, factor] = entry;
  if (function.algorithm == algorithm::eltwise_linear) {
    dnnl::post_ops merged = chain;
    if (!merge_linear(merged, factor * function.alpha, factor * function.beta)) return false;
    chain = std::move(merged);
    return true;
  }
  return function.algorithm == algorithm::eltwise_clip && merge_clip(chain, entry);
}

}  // namespace

void append_eltwise(dnnl::post_ops& post_ops, const Eltwise& function, float factor) {
  const Scaled entry{function, factor};
  if (!clashes(post_ops, entry)) return append(post_ops, entry);
  if (!merge(post_ops, entry))
    throw dnnl::error(dnnl_unimplemented,
                      "oneDNN 2.6 has no two post-ops of one algorithm with different parameters");
}

#else

void append_eltwise(dnnl::post_ops& post_ops, const Eltwise& function, float factor) {
  const auto [algorithm, alpha, beta] = in_this_version(function);
  post_ops.append_eltwise(algorithm, alpha, beta);
  if (factor != 1) post_ops.append_eltwise(dnnl::algorithm::eltwise_linear, factor, 0);
}

#endif

}  // namespace millrace::device::cpu
