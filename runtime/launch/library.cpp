#include "runtime/launch/library.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include <climits>
#include <string_view>

#include "runtime/device/plugin.h"
#include "runtime/engine/plugin.h"

namespace pp::launch {
namespace {

// $ORIGIN/../lib of the program.
std::string PathOf(const std::string& file) {
  char path[PATH_MAX];
  const ssize_t length = readlink("/proc/self/exe", path, sizeof path);
  if (length <= 0) return file;
  std::string folder(path, static_cast<size_t>(length));
  folder.resize(folder.rfind('/'));
  return folder + "/../lib/" + file;
}

// The function `create_name`, after `abi_name` has said that both fit.
template <class Create>
Result<Create> Open(const std::string& file, const char* abi_name,
                    const char* create_name, const char* abi) {
  const std::string path = PathOf(file);
  if (access(path.c_str(), F_OK) != 0) {
    return Fail(
        MachineError(fmt::format("this build has no {} ({} is not there; "
                                 "`./setup --help` tells how to get it)",
                                 file, path)));
  }
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return Fail(MachineError(dlerror()));
  const auto its_abi =
      reinterpret_cast<const char* (*)()>(dlsym(library, abi_name));
  const auto create = reinterpret_cast<Create>(dlsym(library, create_name));
  if (its_abi == nullptr || create == nullptr) {
    return Fail(MachineError(path + " is no part of this program"));
  }
  if (std::string_view(its_abi()) != abi) {
    return Fail(MachineError(
        fmt::format("{} was built for '{}', this program for '{}': build both "
                    "again",
                    path, its_abi(), abi)));
  }
  return create;
}

}  // namespace

Result<std::unique_ptr<engine::EngineFactory>> OpenEngineLibrary(
    const std::string& file) {
  PP_ASSIGN_OR_RETURN(
      const auto create,
      Open<decltype(&PpCreateEngineFactory)>(
          file, "PpEngineAbi", "PpCreateEngineFactory", engine::kEngineAbi));
  return std::unique_ptr<engine::EngineFactory>(create());
}

Result<std::shared_ptr<device::Driver>> OpenDeviceLibrary(
    const std::string& file) {
  PP_ASSIGN_OR_RETURN(
      const auto create,
      Open<decltype(&PpCreateDriver)>(file, "PpDeviceAbi", "PpCreateDriver",
                                      device::kDeviceAbi));
  Status why;
  std::shared_ptr<device::Driver> driver(create(&why));
  if (driver == nullptr) return Fail(why);
  return driver;
}

Result<std::unique_ptr<transport::ProcessTransport>> OpenTransportLibrary(
    const std::string& file) {
  PP_ASSIGN_OR_RETURN(const auto create,
                      Open<decltype(&PpCreateTransport)>(
                          file, "PpTransportAbi", "PpCreateTransport",
                          transport::kTransportAbi));
  return std::unique_ptr<transport::ProcessTransport>(create());
}

}  // namespace pp::launch
