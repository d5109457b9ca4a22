// Builder: turns a graph into the steps of a program, node by node.
//
// Every value has one or more locations: a buffer and a layout in it. Kernels ask for their
// operands in the layout they like best; the builder adds a reorder only where the value has no
// such location yet. Partitions are lowered one after the other. Nodes on the CPU compute in FP32,
// those on the NPU in FP32 or BF16, and a value has locations of its own for each of these places:
// the first node of another place that reads it brings it over, one on the CPU to plain FP32.
// Weights that kernels want in layouts of their own are noted, and packed when all is lowered.
// Memory is planned here, from the sizes the chosen layouts really take; the plan an archive
// carries is for dense values and not used.
//
// Quantised values have locations of their own, with their integers, which all partitions share. To
// kernels they are floating point values: the builder dequantises what a kernel reads, and
// quantises what it has made. Kernels that compute with the integers themselves use stored() and
// its companions, and leave no floating point location behind.
//
// Functions that reach oneDNN may throw its exceptions: call them inside guarded().
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
    bool bf16;                // there are kernels that compute in BF16; else FP32 takes its place
    bool int8;                // kernels may compute with the integers of quantised values
    std::vector<Form> forms;  // of each node, where it is a convolution
    std::vector<uint32_t> chunks;  // the number of chunks that each node is divided into
    LowerNode lower_node;
    std::shared_ptr<ranks::Communicator> communicator = {};  // that collectives run on, if any
  };

  Builder(const graph::CompiledModel& model, Choices choices, const dnnl::engine& engine);

  // Checks that there is a kernel for every node and its types (capabilities.h), then lowers
  // the whole model. kUnsupported names every node without a kernel.
  Result<ProgramParts> build();

  // Facts.
  const graph::CompiledModel& model() const noexcept { return model_; }
  const dnnl::engine& engine() const noexcept { return engine_; }
  // Collectives exchange what CPU partitions compute with.
  bool on_cpu() const noexcept { return partition().kind != graph::PartitionKind::kNpu; }
  const std::shared_ptr<ranks::Communicator>& communicator() const noexcept {
    return choices_.communicator;
  }
  // Whether a running frame may start again; not with collectives, whose other ranks go on.
  bool may_run_again() const;
  bool computes_int8() const noexcept { return choices_.int8; }
  // The number of chunks into which the node that is being lowered is divided.
  uint32_t chunks() const noexcept { return threads_; }
  // The type that the node being lowered computes and stores floating point values in.
  ElementType type() const noexcept {
    return place_ == Place::kNpuBf16 ? ElementType::bf16 : ElementType::f32;
  }
  // The form that is planned for the node that is being lowered, a convolution.
  Form form() const noexcept;
  const graph::Value& value(graph::ValueId id) const { return model_.graph.values[id]; }
  // Whether the node that is being lowered sees the value as numbers in type(). Others, FLOAT64
  // among them, are kept as they are; so are the integers of quantised values where the node reads
  // those.
  bool is_floating(graph::ValueId id) const {
    return tensor::fits_float32(value(id).type) || (is_quantised(id) && computes_numbers_);
  }
  bool is_quantised(graph::ValueId id) const { return value(id).quantisation.has_value(); }
  // Requirement: is_quantised(id).
  const graph::Quantisation& quantisation(graph::ValueId id) const {
    return *value(id).quantisation;
  }
  // Whether the value has no elements. It lies in no memory, has one form, its plain one, and no
  // primitive of oneDNN ever sees it.
  bool is_empty(graph::ValueId id) const { return value(id).elements() == 0; }
  bool is_constant(graph::ValueId id) const { return value(id).constant.has_value(); }
  bool is_output(graph::ValueId id) const { return values_[id].last_use == kForever; }
  // The node that makes a value; null for constants and graph inputs.
  const graph::Node* maker(graph::ValueId id) const;
  // Whether the node, by number, is lowered in this partition, after the one that is now.
  bool comes_later(uint32_t node) const {
    return node > node_ && node < partition().first + partition().count;
  }
  // The nodes that read a value, by number.
  std::span<const uint32_t> readers(graph::ValueId id) const { return readers_[id]; }
  // The number of the graph input that the value is, if it is one.
  std::optional<uint32_t> input_of(graph::ValueId id) const { return values_[id].input; }
  // Whether the value has a location already, in any place.
  bool is_made(graph::ValueId id) const;
  // The shape, with {1} for a scalar: oneDNN has no rank 0.
  Dims dims(graph::ValueId id) const;
  // The plain form of a value, which is how all that is not is_floating() always lies in memory.
  Desc plain_form(graph::ValueId id) const;

  // Bytes of one element on this device.
  size_t element_size(graph::ValueId id) const;

  // Returns the first result of the node that is being lowered.
  graph::ValueId result() const { return model_.graph.nodes[node_].outputs[0]; }

  // Operands of the node that is being lowered.
  // The value where it is.
  Result<Operand> current(graph::ValueId id);
  // The value in this layout; `wanted` has the value's dims.
  Result<Operand> in_layout(graph::ValueId id, const Desc& wanted);
  Result<Operand> plain(graph::ValueId id) { return in_layout(id, plain_form(id)); }
  // A value seen with other dimensions and in the layout of `wanted`; without a step if constant.
  // Its elements are in C order, or have the dimensions of `wanted` in the order `stored`.
  Result<Operand> packed(graph::ValueId id, const Desc& wanted,
                         std::span<const uint32_t> stored = {});
  // The buffer of a floating point constant in a form that is no layout of oneDNN; its
  // elements are in C order.
  BufferId arranged(graph::ValueId id, Arrangement wanted);
  // The elements of a floating point constant.
  std::vector<float> constant_floats(graph::ValueId id) const;
  // A constant of the program's own, from its elements in C order.
  Operand add_constant(const Desc& wanted, const std::vector<float>& elements);
  // The same from elements that lie as `from` says, which the layout `wanted` may complete by sums
  // that its primitive needs.
  Operand add_constant(const void* elements, const Desc& from, const Desc& wanted);

  // The integers of a quantised value: where they are, and in a layout that has its dims.
  // stored_type() is s8, u8 or s32.
  ElementType stored_type(graph::ValueId id) const;
  Desc plain_stored_form(graph::ValueId id) const;
  Result<Operand> stored(graph::ValueId id);
  Result<Operand> stored_in(graph::ValueId id, const Desc& wanted);

  // Leaves the node that is being lowered to a later one, which computes it with its own. What it
  // reads is kept until then. Requirement: comes_later(until), and `until` alone reads its results.
  void postpone(uint32_t until);
  // The node that makes the value where that was left to the one that is being lowered, else null.
  const graph::Node* postponed_maker(graph::ValueId id) const;

  // For the rest of the node, quantised values are the integers that they store, in plain form.
  void see_integers() noexcept { computes_numbers_ = false; }

  // The floating point value, an output that nothing reads, is delivered as the integers of
  // `quantised`, and has no location of its own.
  void deliver_as(graph::ValueId id, graph::ValueId quantised) {
    values_[id].delivered_as = quantised;
    values_[quantised].last_use = kForever;
  }
  std::optional<graph::ValueId> quantised_output(graph::ValueId id) const {
    return values_[id].delivered_as;
  }

  // Results.
  Operand new_stored_result(graph::ValueId id, const Desc& desc);
  void set_stored_result(graph::ValueId id, const Operand& location);
  Operand new_result(graph::ValueId id, const Desc& desc);
  // The value is stored in memory that exists already.
  void set_result(graph::ValueId id, const Operand& location);
  // Memory for this node only.
  Operand new_temporary(const Desc& desc) { return {buffers_.add_arena(desc.get_size()), desc}; }
  // Whether the node may write its result over `location`, which holds `id`: nothing in that memory
  // is needed afterwards, and it belongs to the program.
  bool may_overwrite(graph::ValueId id, const Operand& location);
  // new_result() in the memory of the operand `id` where that is allowed and lies as `desc`.
  Operand new_result_over(graph::ValueId result, const Desc& desc, graph::ValueId id,
                          const Operand& location);

  // Steps, in the order in which they run. They belong to the node that is being lowered and work
  // towards its result; but with `moved`, to no node: they move that value.
  void add(std::string operation, std::string implementation, std::unique_ptr<const Step> step,
           std::optional<ViewCondition> only_in = std::nullopt,
           graph::ValueId moved = graph::kNoValue);
  // `Primitive::primitive_desc` gives implementation and scratchpad.
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

  // Calls `make`, whose primitives run on one thread, whatever the node is divided into.
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
  // The locations of a value so far, in the place of the node that is being lowered.
  const std::vector<Operand>& locations(graph::ValueId id) const {
    return values_[id].locations[static_cast<size_t>(place_)];
  }

 private:
  // The kind of partition that a node belongs to, and the type that it computes in.
  enum class Place : uint8_t { kNpu, kNpuBf16, kCpu };
  static constexpr size_t kPlaces = 3;

  struct PackedConstant {
    Operand location;
    std::vector<uint32_t> stored;  // the order it was packed from
  };
  struct ValueState {
    std::array<std::vector<Operand>, kPlaces> locations;
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
  // Returns the place of a node of the partition that is being lowered.
  Place place_of(uint32_t node) const noexcept;
  std::vector<Operand>& locations(graph::ValueId id) {
    return values_[id].locations[static_cast<size_t>(place_)];
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
  bool needs_plain_form(graph::ValueId id, const Desc& desc) const;
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
  uint32_t threads_ = 1;  // that primitives are made for now
  OpenMpThreads openmp_;
  const dnnl::engine engine_;
  const dnnl::stream stream_;
  std::vector<ValueState> values_;
  const std::vector<std::vector<uint32_t>> readers_;  // by value
  std::vector<bool> postponed_;                       // by node
  BufferTable buffers_;
  ProgramParts parts_;
  uint32_t partition_ = 0;        // the partition that is being lowered,
  uint32_t node_ = 0;             // and the node,
  Place place_ = Place::kNpu;     // which computes there,
  bool computes_numbers_ = true;  // with what its operands stand for
};

}  // namespace millrace::device::cpu
