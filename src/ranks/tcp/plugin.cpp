#include "ranks/connect.h"
#include "ranks/tcp/tcp_transport.h"

extern "C" __attribute__((visibility("default"))) const millrace::ranks::PluginEntry*
millrace_ranks_plugin() {
  static constexpr millrace::ranks::PluginEntry kEntry{millrace::ranks::kPluginVersion,
                                                       &millrace::ranks::connect_tcp_transport};
  return &kEntry;
}
