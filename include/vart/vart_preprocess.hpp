// VART-X preprocessing: crop, resize, change colours, normalise and quantise pictures.
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
#include "vart/vart_preprocess_impl_base.hpp"
#include "vart/vart_preprocess_types.hpp"
#include "vart/vart_videoframe.hpp"

#pragma GCC visibility push(default)

namespace vart {

// One configured function, with copies that share its configuration. To be used from one thread at
// a time. Failure is reported by exceptions derived from std::exception, which say why.
//
// A picture is cropped, resized, brought into the colours of the output format, normalised and
// quantised, in software whatever the type, on the caller's thread and in one pass:
//   inputs    BGR, RGB, BGRx, RGBx, GRAY8, Y_UV8_420 (BT.601, limited range)
//   outputs   BGR, RGB, BGRx, RGBx, BGRP and RGBP in 8 bits, FP16, BF16 and (without an x) FLOAT;
//             GRAY8, GRAY_BF16 and GRAY32_FLOAT, which take mean_r and scale_r
//   values    y = (x - mean) * scale * qt_fctr; 8-bit formats hold INT8, rounded half to even and
//             saturated; the lane x is 0
//   filter    an axis that shrinks by more than 2 is averaged, any other interpolated linearly
//             between pixel centres
//   padding   black before it is normalised: (0 - mean) * scale * qt_fctr
// docs/preprocess.md has the details.
class PreProcess {
 public:
  PreProcess() = delete;

  // `json_data` is empty, or the preprocess-config object as JSON text. What it says is what
  // get_preprocess_info() returns at first: mean-r, scale-r and so on, colour-format,
  // maintain-aspect-ratio, resizing-type, symmetric-padding, quant-scale-factor. Without them the
  // means are 0 and the scales and qt_fctr are 1. kernel-name and the memory banks are ignored.
  // Two keys are this library's own: output-type, INT8 or UINT8 for 8-bit formats, and
  // resize-filter, AUTO, BILINEAR or AREA. Throws std::invalid_argument for text that is no JSON
  // object and for a value that is not what its key takes. Names may be in either case, numbers
  // and booleans may be quoted.
  PreProcess(PreProcessImplType type, std::string& json_data, std::shared_ptr<Device> device);
  // A function of the program's own. Throws std::invalid_argument when `impl` is null.
  explicit PreProcess(std::shared_ptr<PreProcessImplBase> impl);

  // Runs all of `ops`, in order, and returns when the output frames are complete. Frames are mapped
  // and unmapped by it, and may be mapped by the program, too. Of an output frame only out_roi is
  // written; in_frame and out_frame are not the same. Throws std::invalid_argument, naming the
  // number of the operation and the reason, for a frame that is null, a format that is not among
  // those above, an output format other than colour_format, and a region that is empty or reaches
  // beyond its frame. The operations before that one are complete, it and those after it have
  // written nothing, and the object can go on.
  void process(std::vector<PreProcessOp>& ops);
  // The same; results[i] says what was done for ops[i]. `results` gets the size of `ops`, and holds
  // zeros for what a failure prevented.
  void process(std::vector<PreProcessOp>& ops, std::vector<PreProcessOpRes>& results);

  // Describes an input frame of that size and format in `vinfo`: without padding. Throws
  // std::invalid_argument if there can be none.
  void get_input_vinfo(int32_t height, int32_t width, VideoFormat format, VideoInfo& vinfo);
  // The description of an output frame, by the info set last: exactly its width, height and
  // colour_format, without padding. Valid until the next call. Throws std::invalid_argument if
  // there can be none, as before a size was set.
  const VideoInfo& get_output_vinfo();

  // Takes precedence over the configuration text, except that a quant-scale-factor in that replaces
  // qt_fctr. Any value is taken; what cannot be is refused when it is used.
  void set_preprocess_info(PreProcessInfo& info);
  // Valid as long as the object.
  const PreProcessInfo& get_preprocess_info();

  const std::shared_ptr<PreProcessImplBase>& get_pimpl_handle() const;

 private:
  std::shared_ptr<PreProcessImplBase> impl_;
};

}  // namespace vart

#pragma GCC visibility pop

#endif  // VART_VART_PREPROCESS_HPP
