#include "bench/ranks/gloo_rank.h"

#include <gloo/allreduce.h>
#include <gloo/math.h>
#include <gloo/transport/tcp/device.h>

namespace millrace::bench {

GlooRank::GlooRank(gloo::rendezvous::HashStore& store, uint32_t rank, uint32_t ranks)
    : context_(std::make_shared<gloo::rendezvous::Context>(static_cast<int>(rank),
                                                           static_cast<int>(ranks))) {
  std::shared_ptr<gloo::transport::Device> device =
      gloo::transport::tcp::CreateDevice(gloo::transport::tcp::attr("127.0.0.1"));
  context_->connectFullMesh(store, device);
}

void GlooRank::all_reduce(std::span<float> data) {
  gloo::AllreduceOptions options(context_);
  options.setOutput(data.data(), data.size());
  options.setReduceFunction(
      static_cast<void (*)(void*, const void*, const void*, size_t)>(&gloo::sum<float>));
  gloo::allreduce(options);
}

}  // namespace millrace::bench
