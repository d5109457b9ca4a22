// StageLowering: one call of lower_stage(), from the nodes of a network to a graph.
//
// It visits the nodes in order. A node becomes operators of the graph by its handler
// (operators/operator_table.h), or else a fallback operator. An If is replaced by the branch that
// its condition selects, and a Loop or Scan of few iterations is unrolled. A node that needs
// elements that are not known yet is left to a later stage, and with it all nodes that read its
// results; a node that is not supported is reported (Coverage). The members are defined in four
// files: stage_lowering.cpp (nodes, If), stage_loops.cpp (Loop and Scan), stage_values.cpp (values
// by name) and stage_boundary.cpp (inputs and outputs of the graph). For one thread.
#pragma once

#include <deque>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/status.h"
#include "lowering/graph_builder.h"
#include "lowering/loops/loops.h"
#include "lowering/operators/operator_table.h"
#include "lowering/placement/coverage.h"
#include "lowering/stage.h"
#include "lowering/stages/known_elements.h"

namespace millrace::lowering {

class StageLowering {
 public:
  // Requirement: everything that `request` refers to outlives this. `whole`: if no node is left to
  // the rest, the graph has all inputs and outputs of the network, in their order.
  StageLowering(const StageRequest& request, bool whole);

  // Requirement: it is called once.
  Result<Stage> run();

 private:
  // The values of a network or subgraph, by name. A name that a scope lacks is looked up in the
  // scopes around it.
  struct Scope {
    const network::Network* network;
    std::string prefix;  // prefix of the names of its nodes and values in the graph
    Scope* outer;
    bool repeats = false;  // whether it is in an iteration of an unrolled loop
    std::unordered_map<std::string, graph::ValueId> values = {};
    std::unordered_map<std::string_view, const graph::Value*> initializers = {};
  };
  // The node of the network that a node of the graph was made for.
  struct Origin {
    const network::Node* node = nullptr;  // null at the boundary
    const Scope* scope = nullptr;
  };
  enum class Outcome {
    kLowered,
    kWaits,    // it needs elements that are not known, or its subgraph has to run
    kLeftOut,  // it is not supported, and has been reported
  };
  // One attempt to lower a node. If it failed because it needs the elements of values that are not
  // constants, these are `asked`.
  struct Attempt {
    Status status;
    std::vector<graph::ValueId> asked;
  };
  // A value that a constant replaces (constants_), because its elements could be computed from
  // known values.
  struct Settled {
    graph::ValueId id;
    std::set<std::string> known;  // names of these known values
  };

  Scope& open_scope(const network::Network& network, std::string prefix, Scope* outer);
  Status add_whole_inputs();
  Status lower_nodes();
  bool reads_waiting(const network::Node& node) const;
  void leave_to_rest(size_t index);

  Result<Outcome> lower_node(const network::Node& node, Scope& scope);
  Result<Outcome> lower_if(const network::Node& node, Scope& scope);
  Result<const network::Network*> chosen_branch(const network::Node& node, Scope& scope);
  Result<Outcome> lower_branch(const network::Node& node, const network::Network& branch,
                               Scope& scope);
  // The scan outputs of an unrolled loop: for each, the values that the iterations made.
  using Parts = std::vector<std::vector<graph::ValueId>>;
  bool is_short(const Scope& scope, const network::Network& body, size_t iterations);
  bool take_nodes(const Scope& scope, size_t count);
  bool take_constants(const Scope& scope, std::span<const graph::ValueId> ids);
  bool take_results(const network::Node& node, const Scope& scope);
  Result<Outcome> unroll(const network::Node& node, Scope& scope);
  Result<Outcome> unroll_loop(const network::Node& node,
                              const std::vector<graph::ValueId>& operands, Scope& scope);
  Result<Outcome> unroll_scan(const network::Node& node,
                              const std::vector<graph::ValueId>& operands, Scope& scope);
  template <class T>
  std::optional<T> known_scalar(graph::ValueId id, tensor::DataType type) const;
  std::optional<size_t> common_length(const std::vector<graph::ValueId>& sequences,
                                      const std::vector<Walk>& walks) const;
  Result<Outcome> lower_iteration(const network::Node& node, Scope& around, size_t iteration,
                                  const std::vector<graph::ValueId>& inputs,
                                  std::vector<graph::ValueId>* outputs);
  static void keep_outputs(std::vector<graph::ValueId> outputs, std::vector<graph::ValueId>& states,
                           Parts& parts);
  Result<graph::ValueId> take_part(const Scope& scope, graph::ValueId id, int64_t axis,
                                   int64_t index);
  Status check_alike(const std::vector<graph::ValueId>& parts) const;
  Result<graph::ValueId> join_parts(const std::string& name, std::vector<graph::ValueId> parts,
                                    const Walk& walk);
  Result<Outcome> join_iterations(const network::Node& node, Scope& scope,
                                  std::vector<graph::ValueId> states, Parts parts,
                                  const std::vector<Walk>& walks);
  Result<bool> has_only_constants(const network::Node& node, Scope& scope);
  Status lower_covered(const network::Node& node, Scope& scope);
  Attempt lower_by_handler(const network::Node& node, const OperatorEntry& entry, Scope& scope);
  Attempt lower_by_fallback(const network::Node& node, Scope& scope);
  Result<graph::ValueId> call_handler(const OperatorEntry& entry, NodeImport& import,
                                      const network::Node& node);
  Status check_new_kernels(size_t first_node) const;
  Outcome leave_out(const network::Node& node, const Scope& scope, const std::string& reason);

  Result<graph::ValueId> find_value(const std::string& name, Scope& scope);
  Result<graph::ValueId> add_known(const Known& known);
  Status check_sequences(const network::Node& node,
                         const std::vector<graph::ValueId>& operands) const;
  Status check_no_sequence(graph::ValueId id) const;  // at the boundary of a stage
  Result<std::vector<graph::ValueId>> find_operands(const network::Node& node, Scope& scope);
  void name_outputs(const network::Node& node, const NodeImport& import, graph::ValueId first,
                    graph::ValueId first_new, Scope& scope);
  void find_consumed(const network::Network& network);

  bool settle(const std::vector<graph::ValueId>& asked);
  void take_back(size_t settled);

  std::vector<std::string> wanted_names() const;
  std::vector<bool> needed_values() const;
  void report_missing_kernels();
  void set_origins(graph::Graph* graph) const;
  Status add_outputs(Stage* stage);
  Status add_whole_outputs();
  Result<graph::ValueId> boundary_value(const std::string& name, graph::ValueId id,
                                        tensor::DataType type);
  Status add_constant_output(const std::string& name, graph::ValueId id, tensor::DataType type,
                             Stage* stage);
  void drop_unread_inputs(Stage* stage) const;
  std::vector<std::string> read_names() const;

  const StageRequest request_;
  bool whole_;
  GraphBuilder builder_;
  KnownElements elements_;
  Coverage coverage_;
  std::deque<Scope> scopes_;  // the first is that of the network
  std::unordered_map<std::string_view, const Known*> known_;
  std::unordered_map<std::string_view, tensor::DataType> output_types_;  // as they are declared
  std::vector<std::string> input_names_;                                 // by input of the graph
  std::unordered_set<std::string> consumed_;  // names of operands of nodes and of outputs
  std::vector<Origin> origins_;               // by node of the graph
  std::vector<size_t> rest_;
  std::unordered_set<std::string> waiting_;  // outputs of the nodes that are left to the rest
  // Whether a failure to lower the current node is for lack of elements or operands, which a later
  // stage may have.
  bool waits_ = false;
  std::unordered_map<graph::ValueId, graph::ValueId> constants_;  // the constants of settled values
  std::vector<Settled> settled_;  // in the order in which they were settled
  size_t unrolled_ = 0;           // nodes in the iterations of the outermost loop being unrolled
  size_t unrolled_bytes_ = 0;     // bytes of constants in the iterations of all loops
  std::unordered_set<graph::ValueId> outputs_;  // values that boundary_value() has returned
};

}  // namespace millrace::lowering
