// Handler of LinearAttention of the standard. ONNX Runtime's operator of the same name, for which
// there is a kernel, has all that this one has: it takes more arrangements of heads, and ignores
// gates that its rule does not need.
#include <fmt/format.h>

#include "lowering/operators/handlers.h"

namespace millrace::lowering {
namespace {

constexpr size_t kDecayGate = 4, kBetaGate = 5;

Status check_gates(NodeImport& node, const std::string& rule) {
  const bool decays = rule == "gated" || rule == "gated_delta";
  const bool corrects = rule == "delta" || rule == "gated_delta";
  if (node.has(kDecayGate) && !decays)
    return invalid_argument(fmt::format("update_rule {} takes no decay", rule));
  if (node.has(kBetaGate) && !corrects)
    return invalid_argument(fmt::format("update_rule {} takes no beta", rule));
  return {};
}

}  // namespace

// Inputs: query; key; value; past state; decay; beta. Outputs: the result; the state.
Result<ValueId> import_linear_attention(NodeImport& node) {
  const std::string rule = node.string_attribute("update_rule", "gated_delta");
  MILLRACE_RETURN_IF_ERROR(check_gates(node, rule));
  const int64_t queries = node.int_attribute("q_num_heads", 0);
  const int64_t heads = node.int_attribute("kv_num_heads", 0);
  if (heads < 1 || queries < 1 || queries % heads != 0)
    return invalid_argument(fmt::format(
        "q_num_heads {} must be a positive multiple of kv_num_heads {}", queries, heads));
  MILLRACE_ASSIGN_OR_RETURN(const auto results,
                            node.emit_fallback({"com.microsoft.LinearAttention",
                                                {{"kv_num_heads", heads},
                                                 {"q_num_heads", queries},
                                                 {"scale", node.float_attribute("scale", 0)},
                                                 {"update_rule", rule}}},
                                               node.operands(), 2));
  if (node.output_count() > 1) node.set_output(1, results[1]);
  return results[0];
}

}  // namespace millrace::lowering
