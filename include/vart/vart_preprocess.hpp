// VART-X preprocessing: crop, resize, change colours, normalise and quantise pictures.
//
// Declared, not implemented yet: programs compile against this header and do not link.
//
// Sources: the published VART-X documentation and sample programs, release 6.2 and the one after
// it. Defines no macro of its own and no name outside namespace vart. C++17 and later.
#ifndef VART_VART_PREPROCESS_HPP
#define VART_VART_PREPROCESS_HPP

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "vart/vart_device.hpp"
#include "vart/vart_preprocess_types.hpp"
#include "vart/vart_videoframe.hpp"

#pragma GCC visibility push(default)

namespace vart {

class PreProcessImplBase;

// One configured function. To be used from one thread at a time. Failure is reported by exceptions
// derived from std::exception.
class PreProcess {
 public:
  PreProcess() = delete;

  // `json_data` is empty, or the preprocess-config object as JSON text, in which numbers and
  // booleans may be quoted.
  PreProcess(PreProcessImplType type, std::string& json_data, std::shared_ptr<Device> device);
  explicit PreProcess(std::shared_ptr<PreProcessImplBase> impl);

  // Runs all of `ops` and returns when the output frames are complete.
  void process(std::vector<PreProcessOp>& ops);

  // What an input frame of that size and format has to look like.
  void get_input_vinfo(int32_t height, int32_t width, VideoFormat format, VideoInfo& vinfo);
  // What an output frame has to look like, by the info set last.
  const VideoInfo& get_output_vinfo();

  void set_preprocess_info(PreProcessInfo& info);
  const PreProcessInfo& get_preprocess_info();

  const std::shared_ptr<PreProcessImplBase>& get_pimpl_handle() const;

 private:
  std::shared_ptr<PreProcessImplBase> impl_;
};

}  // namespace vart

#pragma GCC visibility pop

#endif  // VART_VART_PREPROCESS_HPP
