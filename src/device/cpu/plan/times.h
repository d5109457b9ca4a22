// Times: what the forms of convolutions take on this processor, and moving images from one layout
// to another, with the lanes that take part in it; out of a record, or measured now where the
// record has none.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "device/cpu/kernels/convolution/implementation.h"
#include "device/cpu/plan/record.h"
#include "device/cpu/steps/crew.h"
#include "device/cpu/steps/stopwatch.h"

namespace millrace::device::cpu::plan {

// A layout without the element type: "acdb".
std::string layout_name(const Desc& desc);

class Times {
 public:
  virtual ~Times() = default;
  // Returns none if nothing is known of the convolution. Empty where it has no kernel but one that
  // exists for completeness only, so that there is nothing to choose.
  virtual std::optional<std::vector<Candidate>> candidates(const kernels::Convolution& convolution,
                                                           uint32_t lanes) = 0;
  // The candidate for a 1x1 convolution and the depthwise one behind it as one step (kSeparable);
  // none if nothing is known of it. Requirement: separable::partner_of() has found them.
  virtual std::optional<Candidate> pair(const kernels::Convolution& pointwise,
                                        const kernels::Convolution& depthwise, uint32_t lanes) = 0;
  // Nanoseconds from one layout to the other, or none if that is unknown.
  virtual std::optional<uint64_t> move(const Dims& dims, ElementType type, const std::string& from,
                                       const std::string& to, uint32_t lanes) = 0;
};

// `record` must outlive the object.
class RecordedTimes final : public Times {
 public:
  explicit RecordedTimes(const Record& record) : record_(record) {}
  std::optional<std::vector<Candidate>> candidates(const kernels::Convolution& convolution,
                                                   uint32_t lanes) override;
  std::optional<Candidate> pair(const kernels::Convolution& pointwise,
                                const kernels::Convolution& depthwise, uint32_t lanes) override;
  std::optional<uint64_t> move(const Dims& dims, ElementType type, const std::string& from,
                               const std::string& to, uint32_t lanes) override;
  // Names what the record lacks of the times that were needed, for messages; empty if it has all.
  const std::string& missing() const noexcept { return missing_; }

 private:
  // Null, and noted as missing, where there are none.
  const std::vector<Candidate>* find(const std::string& key, uint32_t lanes);
  const LaneTimes* of(uint32_t lanes) const;
  void note_missing(std::string_view what, uint32_t lanes);

  const Record& record_;
  std::string missing_;
};

// Measures what the record does not have, on the calling thread and on threads that help it as the
// lanes do, and adds it. The thread is in no OpenMpThreads scope. May throw what guarded() catches.
class MeasuredTimes final : public Times {
 public:
  MeasuredTimes(Record& record, const dnnl::engine& engine)
      : record_(record), engine_(engine), stream_(engine) {}
  std::optional<std::vector<Candidate>> candidates(const kernels::Convolution& convolution,
                                                   uint32_t lanes) override;
  std::optional<Candidate> pair(const kernels::Convolution& pointwise,
                                const kernels::Convolution& depthwise, uint32_t lanes) override;
  std::optional<uint64_t> move(const Dims& dims, ElementType type, const std::string& from,
                               const std::string& to, uint32_t lanes) override;

 private:
  using PrimitiveDesc = dnnl::convolution_forward::primitive_desc;
  // A candidate without its time, and what it is computed by.
  struct Untimed {
    Candidate candidate;
    std::variant<PrimitiveDesc, const kernels::PlannedKernel*> kernel;
  };
  // Remembers their layouts, for moves.
  std::vector<Untimed> enumerate(const kernels::Convolution& convolution);
  void add_primitive(const kernels::Convolution& convolution, Form form,
                     std::vector<Untimed>& found);
  void add_kernel(const kernels::Convolution& convolution, const kernels::PlannedKernel& kernel,
                  std::vector<Untimed>& found);
  uint64_t time(const kernels::Convolution& convolution, const Untimed& untimed);
  uint64_t time_reorder(const Desc& from, const Desc& to) const;
  std::optional<Desc> desc_of(const std::string& layout, const Dims& dims, ElementType type) const;

  Record& record_;
  const dnnl::engine engine_;
  const dnnl::stream stream_;
  Crew crew_;
  const Stopwatch stopwatch_{engine_, stream_, crew_};
  std::map<std::string, Desc> layouts_;  // a tensor of each layout, by its name
};

}  // namespace millrace::device::cpu::plan
