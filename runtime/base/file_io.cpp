#include "runtime/base/file_io.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <memory>
#include <system_error>

namespace pp {
namespace {

constexpr uint64_t kMaxFileBytes = uint64_t{4} << 30;
constexpr uint64_t kMaxStreamBytes = uint64_t{256} << 20;
constexpr size_t kReadStep = 64 << 10;

Status SystemError(std::string_view doing, const std::string& path, int error) {
  return MachineError(fmt::format("cannot {} `{}`: {}", doing, path,
                                  std::generic_category().message(error)));
}

// A name that leads to no file is the input's fault, all else the machine's.
Status ReadError(const std::string& path, int error) {
  const bool wrong_name =
      error == ENOENT || error == ENOTDIR || error == EISDIR;
  const Status status = SystemError("read", path, error);
  return wrong_name ? InputError(status.message()) : status;
}

class File {
 public:
  explicit File(int fd) : fd_(fd) {}
  ~File() {
    if (fd_ >= 0) ::close(fd_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  int fd() const { return fd_; }
  bool ok() const { return fd_ >= 0; }
  bool Close() { return ::close(std::exchange(fd_, -1)) == 0; }

 private:
  int fd_;
};

Status TooLarge(const std::string& path, uint64_t limit) {
  return MachineError(
      fmt::format("cannot read `{}`: larger than {} bytes", path, limit));
}

// Until the end of the file, or an error.
Status ReadAll(int fd, const std::string& path, uint64_t limit,
               std::vector<std::byte>& out) {
  size_t used = 0;
  while (true) {
    if (out.size() - used < kReadStep) {
      out.resize(std::max(used + kReadStep, out.size() * 2));
    }
    const ssize_t got = ::read(fd, out.data() + used, out.size() - used);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return ReadError(path, errno);
    used += static_cast<size_t>(got);
    if (used > limit) return TooLarge(path, limit);
    if (got == 0) break;
  }
  out.resize(used);
  return OkStatus();
}

Status WriteAll(int fd, const std::string& path,
                std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t put = ::write(fd, bytes.data(), bytes.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return SystemError("write", path, errno);
    bytes = bytes.subspan(static_cast<size_t>(put));
  }
  return OkStatus();
}

Status WriteInPlace(const std::string& path, std::span<const std::byte> bytes) {
  File file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (!file.ok()) return SystemError("write", path, errno);
  return WriteAll(file.fd(), path, bytes);
}

// Opens a new file beside `path`; its name goes to `aside`.
int OpenAside(const std::string& path, std::string& aside) {
  for (int attempt = 0; attempt < 100; ++attempt) {
    aside = fmt::format("{}.{}-{}.tmp", path, ::getpid(), attempt);
    const int fd =
        ::open(aside.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd >= 0 || errno != EEXIST) return fd;
  }
  return -1;
}

Status FillAside(File& file, const std::string& path,
                 std::span<const std::byte> bytes, const struct stat* old) {
  // The new file keeps the old one's permissions. Best effort: on a file
  // system without them the default of the new file stays.
  if (old != nullptr && ::fchmod(file.fd(), old->st_mode & 07777) != 0) {
    errno = 0;
  }
  PP_RETURN_IF_ERROR(WriteAll(file.fd(), path, bytes));
  if (::fsync(file.fd()) != 0) return SystemError("write", path, errno);
  if (!file.Close()) return SystemError("write", path, errno);
  return OkStatus();
}

Status Replace(const std::string& path, std::span<const std::byte> bytes,
               const struct stat* old) {
  std::string aside;
  File file(OpenAside(path, aside));
  if (!file.ok()) return SystemError("write", path, errno);
  Status status = FillAside(file, path, bytes, old);
  if (status.ok() && ::rename(aside.c_str(), path.c_str()) != 0) {
    status = SystemError("write", path, errno);
  }
  if (!status.ok()) ::unlink(aside.c_str());
  return status;
}

// The file behind a link, so that renaming does not replace the link.
std::string Resolve(const std::string& path) {
  const std::unique_ptr<char, decltype(&std::free)> real(
      ::realpath(path.c_str(), nullptr), &std::free);
  return real ? std::string(real.get()) : path;
}

std::span<const std::byte> AsBytes(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

}  // namespace

Result<std::vector<std::byte>> ReadFile(const std::string& path) {
  File file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.ok()) return Fail(ReadError(path, errno));
  struct stat info {};
  if (::fstat(file.fd(), &info) != 0) {
    return Fail(ReadError(path, errno));
  }
  if (S_ISDIR(info.st_mode)) return Fail(ReadError(path, EISDIR));
  const bool regular = S_ISREG(info.st_mode);
  const uint64_t limit = regular ? kMaxFileBytes : kMaxStreamBytes;
  const uint64_t size = regular ? static_cast<uint64_t>(info.st_size) : 0;
  if (size > limit) return Fail(TooLarge(path, limit));
  std::vector<std::byte> bytes(size + kReadStep);
  PP_RETURN_IF_ERROR(ReadAll(file.fd(), path, limit, bytes));
  return bytes;
}

Result<std::string> ReadTextFile(const std::string& path) {
  PP_ASSIGN_OR_RETURN(const std::vector<std::byte> bytes, ReadFile(path));
  return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

Status WriteFile(const std::string& path, std::span<const std::byte> bytes) {
  const std::string target = Resolve(path);
  struct stat info {};
  const bool exists = ::stat(target.c_str(), &info) == 0;
  if (exists && S_ISDIR(info.st_mode)) {
    return SystemError("write", path, EISDIR);
  }
  if (exists && !S_ISREG(info.st_mode)) return WriteInPlace(target, bytes);
  return Replace(target, bytes, exists ? &info : nullptr);
}

Status WriteTextFile(const std::string& path, std::string_view text) {
  return WriteFile(path, AsBytes(text));
}

}  // namespace pp
