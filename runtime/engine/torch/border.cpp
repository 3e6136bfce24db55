#include "runtime/engine/torch/border.h"

#include <ATen/Parallel.h>
#include <c10/util/Exception.h>
#include <fmt/core.h>

#include <exception>
#include <new>
#include <string>

namespace pp::engine::torch_engine {

Status CurrentException(std::string_view what) {
  try {
    throw;
  } catch (const std::bad_alloc&) {
    return MachineError(fmt::format("{}: out of memory", what));
  } catch (const c10::OutOfMemoryError& error) {
    return MachineError(
        fmt::format("{}: {}", what, error.what_without_backtrace()));
  } catch (const c10::Error& error) {
    return RankError(
        fmt::format("{}: {}", what, error.what_without_backtrace()));
  } catch (const std::exception& error) {
    return RankError(fmt::format("{}: {}", what, error.what()));
  } catch (...) {
    return RankError(fmt::format("{}: unknown exception", what));
  }
}

void UseOneThread() {
  // OpenMP's count belongs to the calling thread.
  thread_local const bool done = [] {
    at::set_num_threads(1);
    return true;
  }();
  (void)done;
}

}  // namespace pp::engine::torch_engine
