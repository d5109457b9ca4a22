// Builder: turns a graph into the steps of a program, node by node.
//
// Every value has one or more locations: a buffer and a layout in it. Kernels ask for their
// operands in the layout that suits them; the builder adds a reorder only if the value has no such
// location yet. Weights that kernels want in layouts of their own are noted, and packed when all is
// lowered. The builder plans the memory from the sizes that the chosen layouts take. The plan that
// an archive has is for dense values, and is not used.
//
// Partitions are lowered one after the other. Nodes on the CPU compute in FP32, those on the NPU in
// FP32 or BF16. A value has separate locations for each of these domains: the first node of another
// domain that reads it copies it there, to plain FP32 on the CPU.
//
// The integers of a quantised value have locations, too, which all partitions share. Kernels see it
// as a floating point value: the builder dequantises what a kernel reads, and quantises what it has
// made. Kernels that compute with the integers use stored() and its companions, which make no
// floating point location.
//
// An object belongs to one thread. Functions that reach oneDNN may throw its exceptions: call them
// inside guarded().
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "device/cpu/builder/form.h"
#include "device/cpu/builder/program_parts.h"
#include "device/cpu/dnnl/openmp/openmp.h"
#include "device/cpu/steps/buffers.h"
#include "device/cpu/steps/step.h"
#include "device/device.h"
#include "graph/compiled_model.h"

namespace millrace::device::cpu {

class Builder {
 public:
  // Adds the steps of a node to the builder, by the kernels above it. May throw oneDNN's
  // exceptions.
  using LowerNode = Status (*)(Builder& builder, const graph::Node& node);

  // The choices that the model leaves open.
  struct Choices {
    bool bf16;                     // kernels may compute in BF16; otherwise FP32 takes its place
    bool int8;                     // kernels may compute with the integers of quantised values
    std::vector<Form> forms;       // of each node, where it is a convolution
    std::vector<uint32_t> chunks;  // the number of chunks that each node is divided into
    LowerNode lower_node;
    std::shared_ptr<ranks::Communicator> communicator = {};  // that collectives run on, if any
  };

  Builder(const graph::CompiledModel& model, Choices choices, const dnnl::engine& engine);

  // Checks that there is a kernel for every node and its types (capabilities.h), then lowers
  // the whole model. kUnsupported names every node without a kernel.
  Result<ProgramParts> build();

  // The model, and the node that is being lowered.
  const graph::CompiledModel& model() const noexcept { return model_; }
  const dnnl::engine& engine() const noexcept { return engine_; }
  // True in CPU partitions and for collectives, which exchange the values of CPU partitions.
  bool on_cpu() const noexcept { return partition().kind != graph::PartitionKind::kNpu; }
  const std::shared_ptr<ranks::Communicator>& communicator() const noexcept {
    return choices_.communicator;
  }
  // Whether a frame may be run again from its start: not with collectives, whose other ranks go on.
  bool may_run_again() const;
  bool computes_int8() const noexcept { return choices_.int8; }
  // The number of chunks into which the node that is being lowered is divided.
  uint32_t chunks() const noexcept { return threads_; }
  // The type that the node being lowered computes and stores floating point values in.
  ElementType type() const noexcept {
    return domain_ == Domain::kNpuBf16 ? ElementType::bf16 : ElementType::f32;
  }
  // The form that is planned for the node that is being lowered, a convolution.
  Form form() const noexcept;
  const graph::Value& value(graph::ValueId id) const { return model_.graph.values[id]; }
  // Whether the node that is being lowered sees the value as floating point elements in type().
  // Other values, such as FLOAT64, are kept as they are, and so are the integers of quantised
  // values if the node reads those.
  bool is_floating(graph::ValueId id) const {
    return tensor::fits_float32(value(id).type) || (is_quantised(id) && computes_numbers_);
  }
  bool is_quantised(graph::ValueId id) const { return value(id).quantisation.has_value(); }
  // Requirement: is_quantised(id).
  const graph::Quantisation& quantisation(graph::ValueId id) const {
    return *value(id).quantisation;
  }
  // Whether the value has no elements. It takes no memory, has its plain form only, and is never
  // given to oneDNN.
  bool is_empty(graph::ValueId id) const { return value(id).elements() == 0; }
  bool is_constant(graph::ValueId id) const { return value(id).constant.has_value(); }
  bool is_output(graph::ValueId id) const { return values_[id].last_use == kForever; }
  // The node that makes a value; null for constants and graph inputs.
  const graph::Node* maker(graph::ValueId id) const;
  // Whether the node with that number follows in this partition.
  bool comes_later(uint32_t node) const {
    return node > node_ && node < partition().first + partition().count;
  }
  // Returns the numbers of the nodes that read a value.
  std::span<const uint32_t> readers(graph::ValueId id) const { return readers_[id]; }
  // Returns the number of the graph input, if the value is one.
  std::optional<uint32_t> input_of(graph::ValueId id) const { return values_[id].input; }
  // Whether the value has a location already, in any domain.
  bool is_made(graph::ValueId id) const;
  // Returns the shape, and {1} for a scalar: oneDNN has no rank 0.
  Dims dims(graph::ValueId id) const;
  // Returns the plain layout of a value: in C order. Values that are not is_floating() have no
  // other one.
  Desc plain_layout(graph::ValueId id) const;

  // Returns the bytes of one element on this device.
  size_t element_size(graph::ValueId id) const;

  // Returns the first result of the node that is being lowered.
  graph::ValueId result() const { return model_.graph.nodes[node_].outputs[0]; }

  // These return operands of the node that is being lowered.
  //
  // The value at its first location, in any layout.
  Result<Operand> current(graph::ValueId id);
  // The value in the layout `wanted`, which has its dims.
  Result<Operand> in_layout(graph::ValueId id, const Desc& wanted);
  Result<Operand> plain(graph::ValueId id) { return in_layout(id, plain_layout(id)); }
  // The value with the dimensions and the layout of `wanted`; a constant takes no step. The
  // elements of the value are in C order, or have the dimensions of `wanted` in the order `stored`.
  Result<Operand> packed(graph::ValueId id, const Desc& wanted,
                         std::span<const uint32_t> stored = {});
  // A floating point constant in an arrangement that is no layout of oneDNN, made from its elements
  // in C order.
  BufferId arranged(graph::ValueId id, Arrangement wanted);
  // The elements of a floating point constant.
  std::vector<float> constant_floats(graph::ValueId id) const;
  // A new constant of the program, from its elements in C order.
  Operand add_constant(const Desc& wanted, const std::vector<float>& elements);
  // The same from elements in the layout `from`. The layout `wanted` may add sums of weights that
  // its primitive needs.
  Operand add_constant(const void* elements, const Desc& from, const Desc& wanted);

  // These return the integers of a quantised value, as current() and in_layout() return floating
  // point elements. stored_type() is s8, u8 or s32.
  ElementType stored_type(graph::ValueId id) const;
  Desc plain_stored_form(graph::ValueId id) const;
  Result<Operand> stored(graph::ValueId id);
  Result<Operand> stored_in(graph::ValueId id, const Desc& wanted);

  // Leaves the node that is being lowered to a later one, `until`, whose step computes both. The
  // operands are kept until then. Requirement: comes_later(until), and `until` alone reads the
  // results.
  void postpone(uint32_t until);
  // Returns the node that makes the value, if it was postponed; otherwise null.
  const graph::Node* postponed_maker(graph::ValueId id) const;

  // From here on, the node sees quantised values as the integers that they store, in plain form.
  void see_integers() noexcept { computes_numbers_ = false; }

  // Has the floating point value, an output that nothing reads, delivered as the integers of
  // `quantised`. It gets no location.
  void deliver_as(graph::ValueId id, graph::ValueId quantised) {
    values_[id].delivered_as = quantised;
    values_[quantised].last_use = kForever;
  }
  std::optional<graph::ValueId> quantised_output(graph::ValueId id) const {
    return values_[id].delivered_as;
  }

  // These give a value a location: new memory, or `location`, which exists already.
  Operand new_stored_result(graph::ValueId id, const Desc& desc);
  void set_stored_result(graph::ValueId id, const Operand& location);
  Operand new_result(graph::ValueId id, const Desc& desc);
  void set_result(graph::ValueId id, const Operand& location);
  // Returns memory for this node only.
  Operand new_temporary(const Desc& desc) { return {buffers_.add_arena(desc.get_size()), desc}; }
  // Whether the node may write its result over `location`, which holds `id`: the memory belongs to
  // the context, and nothing in it is needed afterwards.
  bool may_overwrite(graph::ValueId id, const Operand& location);
  // Like new_result(), but in the memory of the operand `id` if that has the layout `desc` and may
  // be overwritten.
  Operand new_result_over(graph::ValueId result, const Desc& desc, graph::ValueId id,
                          const Operand& location);

  // Adds a step; steps run in the order in which they are added. It is a part of the node that is
  // being lowered, or, with `moved`, a copy of that value, which belongs to no node.
  void add(std::string operation, std::string implementation, std::unique_ptr<const Step> step,
           std::optional<ViewCondition> only_in = std::nullopt,
           graph::ValueId moved = graph::kNoValue);
  // Adds the step of a primitive, with the scratch memory that `desc` asks for.
  template <class PrimitiveDesc>
  void add_primitive(std::string operation, const PrimitiveDesc& desc, dnnl::primitive primitive,
                     std::vector<Argument> arguments,
                     std::optional<ViewCondition> only_in = std::nullopt,
                     graph::ValueId moved = graph::kNoValue) {
    if (const Desc scratch = desc.scratchpad_desc(); scratch.get_size() > 0)
      arguments.push_back({DNNL_ARG_SCRATCHPAD, new_temporary(scratch)});
    add(std::move(operation), desc.impl_info_str(),
        std::make_unique<PrimitiveStep>(std::move(primitive), std::move(arguments)), only_in,
        moved);
  }
  // `moved` is the value that `to` holds afterwards, or a part of it.
  void add_reorder(graph::ValueId moved, const Operand& from, const Operand& to,
                   std::optional<ViewCondition> only_in = std::nullopt);
  // Adds a reorder to memory for this node only, in the type and layout `wanted`.
  Operand reordered(graph::ValueId moved, const Operand& from, const Desc& wanted,
                    std::optional<ViewCondition> only_in = std::nullopt);

  // Calls `make`, which makes primitives for one thread, whatever the node is divided into.
  template <class Make>
  auto for_one_thread(Make&& make) {
    struct Back {
      ~Back() { openmp.set(threads); }
      OpenMpThreads& openmp;
      const uint32_t threads;
    };
    const Back back{openmp_, threads_};
    openmp_.set(1);
    return make();
  }

  BufferTable& buffers() noexcept { return buffers_; }
  // Returns the locations that a value has so far in the domain of the node that is being lowered.
  const std::vector<Operand>& locations(graph::ValueId id) const {
    return values_[id].locations[static_cast<size_t>(domain_)];
  }

 private:
  // The kind of partition that a node belongs to, and the type that it computes in.
  enum class Domain : uint8_t { kNpuFp32, kNpuBf16, kCpu };
  static constexpr size_t kDomains = 3;

  struct PackedConstant {
    Operand location;
    std::vector<uint32_t> stored;  // the order of the dimensions that it was packed from
  };
  struct ValueState {
    std::array<std::vector<Operand>, kDomains> locations;
    std::vector<Operand> stored;                 // of a quantised value: its integers
    std::optional<graph::ValueId> delivered_as;  // an output that is delivered as integers
    std::vector<PackedConstant> packed;
    using ArrangedBuffer = std::pair<std::string, BufferId>;  // by Arrangement::identity
    std::vector<ArrangedBuffer> arranged;
    std::optional<uint32_t> input;  // index of a graph input
    uint32_t maker = 0;             // the node that makes it, if one does
    uint32_t last_use = 0;          // the last node that reads it; kForever for outputs
  };
  static constexpr uint32_t kForever = 0xffffffffu;

  const graph::Partition& partition() const noexcept { return model_.partitions[partition_]; }
  // Returns the domain of a node of the partition that is being lowered.
  Domain domain_of(uint32_t node) const noexcept;
  std::vector<Operand>& locations(graph::ValueId id) {
    return values_[id].locations[static_cast<size_t>(domain_)];
  }

  Status lower_partitions();
  Status lower_node(const graph::Node& node);
  uint32_t chunks_of_current_node() const;
  void make_for(uint32_t threads) noexcept;
  Status lower_nodes(std::string& missing);
  Status deliver_outputs();
  Status ensure_location(graph::ValueId id, const Desc& preferred);
  Status bring_over(graph::ValueId id, const Desc& wanted);
  Status ensure_stored(graph::ValueId id);
  bool needs_plain_layout(graph::ValueId id, const Desc& desc) const;
  Status dequantise(graph::ValueId id);
  Status quantise_result(graph::ValueId id);
  Result<Operand> integers(graph::ValueId id);
  Operand pack(graph::ValueId id, const Desc& wanted, std::span<const uint32_t> stored);
  Operand pack_later(graph::ValueId id, const Desc& from, const Desc& wanted);
  BufferId refer_to(std::span<const std::byte> bytes);
  // These describe a step for StepInfo.
  void describe_layouts(const Step& step, StepInfo& info) const;
  bool reads_integers(const Step& step, graph::ValueId operand) const;
  graph::ValueId first_operand() const;
  std::string describe(graph::ValueId id, const Desc& desc) const;
  std::string describe_node(uint32_t node) const;
  std::string maker_of(graph::ValueId id) const;
  std::string why_reordered(graph::ValueId moved, const Operand& from, const Operand& to) const;
  std::string why_in_view(graph::ValueId moved, const ViewCondition& condition) const;

  const graph::CompiledModel& model_;
  const Choices choices_;
  uint32_t threads_ = 1;  // the number of threads that primitives are made for
  OpenMpThreads openmp_;
  const dnnl::engine engine_;
  const dnnl::stream stream_;
  std::vector<ValueState> values_;
  const std::vector<std::vector<uint32_t>> readers_;  // by value
  std::vector<bool> postponed_;                       // by node
  BufferTable buffers_;
  ProgramParts parts_;
  // The state of the lowering.
  uint32_t partition_ = 0;
  uint32_t node_ = 0;
  Domain domain_ = Domain::kNpuFp32;
  bool computes_numbers_ = true;  // false if the node reads the integers of quantised values
};

}  // namespace millrace::device::cpu
