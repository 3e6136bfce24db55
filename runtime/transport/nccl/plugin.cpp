// What pprun looks for in libpp_transport_nccl.so
// (runtime/transport/meeting.h).
#include "runtime/transport/nccl/nccl.h"

#define PP_EXPORT __attribute__((visibility("default")))

extern "C" {
PP_EXPORT const char* PpTransportAbi() { return pp::transport::kTransportAbi; }
PP_EXPORT pp::transport::ProcessTransport* PpCreateTransport() {
  return pp::transport::nccl::CreateProcessTransport().release();
}
}
