// Compares the profiles of two compilations of a model, node by node. Thread-safe.
#pragma once

#include <nlohmann/json.hpp>

namespace millrace::cli {

// Takes two reports of explain() with profiles. Returns [{"node", "operator", "mean_us",
// "other_us"}] with the times of the steps of each node, which both compilations name as the ONNX
// file does, the longest first. A time is null if that compilation has no step for the node, since
// it has no such node or computes it within another. The last entry, without a node, is for all
// steps that belong to none, such as reorders.
nlohmann::ordered_json times_by_node(const nlohmann::ordered_json& explanation,
                                     const nlohmann::ordered_json& other);

// Prints the report of explain() on a model whose members "against" and "by_node" compare it with
// another.
void print_comparison(const nlohmann::ordered_json& explanation);

}  // namespace millrace::cli
