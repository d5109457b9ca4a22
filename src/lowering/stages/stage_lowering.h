// StageLowering: one run of a lowering, from the nodes of a network to a graph.
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
  // Everything that `request` refers to outlives this. `whole`: the graph has all inputs and
  // outputs of the network, in their order, if no node is left to the rest.
  StageLowering(const StageRequest& request, bool whole);

  // To be called once.
  Result<Stage> run();

 private:
  // The values that are visible at a place in the network, by name: those of the network, and in
  // the branch of an If those around it, too.
  struct Scope {
    const network::Network* network;
    std::string prefix;  // prefix of the names of its nodes and values in the graph
    Scope* outer;
    bool repeats = false;  // it belongs to an iteration of a loop that becomes its nodes
    std::unordered_map<std::string, graph::ValueId> values = {};
    std::unordered_map<std::string_view, const graph::Value*> initializers = {};
  };
  // The node that a node of the graph was made for.
  struct Origin {
    const network::Node* node = nullptr;  // null at the boundary
    const Scope* scope = nullptr;
  };
  enum class Outcome {
    kLowered,
    kWaits,    // for elements that are not known, or for its subgraph to be run
    kLeftOut,  // it is not covered, and reported
  };
  // The outcome of one attempt to lower a node. It failed for lack of the elements of the values
  // `asked`.
  struct Attempt {
    Status status;
    std::vector<graph::ValueId> asked;
  };
  // A value for which a constant stands from now on, and the known values that it follows from.
  struct Settled {
    graph::ValueId id;
    std::set<std::string> from;
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
  using Parts = std::vector<std::vector<graph::ValueId>>;  // by output: one for each iteration
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
  std::unordered_set<std::string> consumed_;  // names that nodes read or the network puts out
  std::vector<Origin> origins_;               // by node of the graph
  std::vector<size_t> rest_;
  std::unordered_set<std::string> waiting_;  // outputs of the nodes that are left to the rest
  bool waits_ = false;                       // why the node at hand cannot be lowered
  std::unordered_map<graph::ValueId, graph::ValueId> constants_;  // that stand for settled values
  std::vector<Settled> settled_;
  size_t unrolled_ = 0;        // nodes of iterations, of the outermost loop at hand
  size_t unrolled_bytes_ = 0;  // bytes of constants in the iterations of all loops
  std::unordered_set<graph::ValueId> outputs_;
};

}  // namespace millrace::lowering
