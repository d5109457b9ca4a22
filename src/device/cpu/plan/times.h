// Times: what the forms of convolutions take on this processor, and moving images from one layout
// to another; out of a record, or measured now where the record has none.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "device/cpu/kernels/convolution_primitive.h"
#include "device/cpu/plan/record.h"

namespace millrace::device::cpu::plan {

// A layout without the element type: "acdb".
std::string layout_name(const Desc& desc);

class Times {
 public:
  virtual ~Times() = default;
  // None where nothing is known of the convolution. Empty where it has no kernel but one that
  // exists for completeness only, so that there is nothing to choose.
  virtual std::optional<std::vector<Candidate>> candidates(
      const kernels::Convolution& convolution) = 0;
  // Nanoseconds from one layout to the other; none where that is unknown.
  virtual std::optional<uint64_t> move(const Dims& dims, ElementType type, const std::string& from,
                                       const std::string& to) = 0;
};

// `record` must outlive the object.
class RecordedTimes final : public Times {
 public:
  explicit RecordedTimes(const Record& record) : record_(record) {}
  std::optional<std::vector<Candidate>> candidates(
      const kernels::Convolution& convolution) override;
  std::optional<uint64_t> move(const Dims& dims, ElementType type, const std::string& from,
                               const std::string& to) override;

 private:
  const Record& record_;
};

// Measures on the calling thread what the record does not have, and adds it. May throw what
// guarded() catches.
class MeasuredTimes final : public Times {
 public:
  MeasuredTimes(Record& record, const dnnl::engine& engine)
      : record_(record), engine_(engine), stream_(engine) {}
  std::optional<std::vector<Candidate>> candidates(
      const kernels::Convolution& convolution) override;
  std::optional<uint64_t> move(const Dims& dims, ElementType type, const std::string& from,
                               const std::string& to) override;

 private:
  // A candidate without its time, and its primitive; none is one of the device's own steps.
  using Untimed = std::pair<Candidate, std::optional<dnnl::convolution_forward::primitive_desc>>;
  // Remembers their layouts, for moves.
  std::vector<Untimed> enumerate(const kernels::Convolution& convolution);
  void add_primitive(const kernels::Convolution& convolution, Form form,
                     std::vector<Untimed>& found);
  std::optional<Desc> desc_of(const std::string& layout, const Dims& dims, ElementType type) const;

  Record& record_;
  const dnnl::engine engine_;
  const dnnl::stream stream_;
  std::map<std::string, Desc> layouts_;  // a tensor of each layout, by its name
};

}  // namespace millrace::device::cpu::plan
