// VART-X preprocessing: what is behind a vart::PreProcess, for programs that bring a function of
// their own.
//
// Sources: the published VART-X documentation says that every module has such a base class to
// derive from; its functions are inferred from those of the class that programs call. Defines no
// macro and no name outside namespace vart. C++17 and later.
#ifndef VART_VART_PREPROCESS_IMPL_BASE_HPP
#define VART_VART_PREPROCESS_IMPL_BASE_HPP

#include <cstdint>
#include <vector>

#include "vart/vart_preprocess_types.hpp"
#include "vart/vart_videoframe.hpp"

#pragma GCC visibility push(default)

namespace vart {

// PreProcess calls the function of the same name, on the thread that calls PreProcess; what it
// throws comes out of that call.
class PreProcessImplBase {
 public:
  virtual ~PreProcessImplBase();
  PreProcessImplBase(const PreProcessImplBase&) = delete;
  PreProcessImplBase& operator=(const PreProcessImplBase&) = delete;

  virtual void process(std::vector<PreProcessOp>& ops) = 0;
  // Unless overridden, calls the other one, and sets `results` to zeros, one entry for each of
  // `ops`: InferResScaleInfo takes them as not given.
  virtual void process(std::vector<PreProcessOp>& ops, std::vector<PreProcessOpRes>& results);
  virtual void get_input_vinfo(int32_t height, int32_t width, VideoFormat format,
                               VideoInfo& vinfo) = 0;
  virtual const VideoInfo& get_output_vinfo() = 0;
  virtual void set_preprocess_info(PreProcessInfo& info) = 0;
  virtual const PreProcessInfo& get_preprocess_info() = 0;

 protected:
  PreProcessImplBase() = default;
};

}  // namespace vart

#pragma GCC visibility pop

#endif  // VART_VART_PREPROCESS_IMPL_BASE_HPP
