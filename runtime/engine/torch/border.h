// The border to Torch: exceptions inside, Status outside. Nothing else of the
// project catches a Torch exception.
#pragma once

#include <string_view>
#include <utility>

#include "runtime/base/status.h"

namespace pp::engine::torch_engine {

// The exception being handled, as a Status that starts with `what`. Call from
// a catch block only. kMachine when memory ran out, else kRankFailed.
Status CurrentException(std::string_view what);

// f(), which returns a Status or a Result; its exceptions become Status.
template <class F>
auto AtBorder(std::string_view what, F&& f) -> decltype(f()) {
  try {
    return std::forward<F>(f)();
  } catch (...) {
    return ::pp::internal::Propagate(CurrentException(what));
  }
}

// Numbers must not depend on how many threads sum them: one for this process's
// operators, and for the calling thread. Cheap after the first call.
void UseOneThread();

}  // namespace pp::engine::torch_engine
