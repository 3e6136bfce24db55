#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <nlohmann/json.hpp>
#include <system_error>

#include "runtime/base/byte_reader.h"
#include "runtime/base/byte_writer.h"
#include "runtime/base/crc32.h"
#include "runtime/base/file_io.h"
#include "runtime/base/quote.h"
#include "runtime/weights/safetensors.h"

namespace pp::weights {
namespace {

static_assert(std::endian::native == std::endian::little,
              "values are read and written as they are in memory");

constexpr uint64_t kLengthBytes = 8;
constexpr uint64_t kMostHeaderBytes = 100'000'000;  // the format's own limit
constexpr size_t kAlignment = 8;  // of the data, as the format wants it

std::string ErrorText(int error) {
  return std::generic_category().message(error);
}

}  // namespace

File::~File() { ::close(fd_); }

Result<std::shared_ptr<const File>> File::Open(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) {
    const bool wrong_name = errno == ENOENT || errno == ENOTDIR;
    const std::string text =
        fmt::format("cannot read `{}`: {}", path, ErrorText(errno));
    return Fail(wrong_name ? InputError(text) : MachineError(text));
  }
  std::shared_ptr<File> file(new File(path, fd));
  PP_RETURN_IF_ERROR(file->ReadHeader().WithContext(
      fmt::format("`{}` is no whole safetensors file", path)));
  return std::shared_ptr<const File>(std::move(file));
}

Status File::ReadHeader() {
  struct stat info {};
  if (::fstat(fd_, &info) != 0) return MachineError(ErrorText(errno));
  if (!S_ISREG(info.st_mode)) return InputError("it is no regular file");
  size_ = static_cast<uint64_t>(info.st_size);
  if (size_ < kLengthBytes) {
    return InputError(fmt::format("it has {} bytes", size_));
  }
  std::byte word[kLengthBytes];
  PP_RETURN_IF_ERROR(ReadAt(0, word));
  const uint64_t length = ByteReader(word).U64("the header's length");
  if (length > kMostHeaderBytes || length > size_ - kLengthBytes) {
    return InputError(fmt::format(
        "it announces a header of {} bytes; the file has {}{}", length, size_,
        length > kMostHeaderBytes ? " and a header at most 100000000" : ""));
  }
  std::string json(length, '\0');
  PP_RETURN_IF_ERROR(
      ReadAt(kLengthBytes, std::as_writable_bytes(std::span(json))));
  data_at_ = kLengthBytes + length;
  PP_ASSIGN_OR_RETURN(header_, ParseHeader(json, size_ - data_at_));
  return OkStatus();
}

Status File::ReadAt(uint64_t offset, std::span<std::byte> out) const {
  while (!out.empty()) {
    const ssize_t got =
        ::pread(fd_, out.data(), out.size(), static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) {
      return MachineError(
          fmt::format("cannot read `{}`: {}", path_,
                      got < 0 ? ErrorText(errno) : "it has become shorter"));
    }
    out = out.subspan(static_cast<size_t>(got));
    offset += static_cast<uint64_t>(got);
  }
  return OkStatus();
}

const TensorInfo* File::Find(std::string_view name) const {
  const auto found = header_.tensors.find(name);
  return found == header_.tensors.end() ? nullptr : &found->second;
}

Status File::Read(std::string_view name, std::span<float> out) const {
  const TensorInfo* info = Find(name);
  if (info == nullptr) {
    return InputError(fmt::format("`{}` has no tensor {}", path_, Quote(name)));
  }
  if (info->dtype != "F32" || info->end - info->begin != out.size_bytes()) {
    return InputError(fmt::format("`{}`: tensor {} is {} {}, not {} F32 values",
                                  path_, Quote(name), info->dtype,
                                  ShapeText(info->shape), out.size()));
  }
  return ReadAt(data_at_ + info->begin, std::as_writable_bytes(out));
}

Status File::ReadBytes(const TensorInfo& info, uint64_t from,
                       std::span<std::byte> out) const {
  if (from > info.end - info.begin ||
      out.size() > info.end - info.begin - from) {
    return InputError(fmt::format("`{}`: beyond the end of a tensor", path_));
  }
  return ReadAt(data_at_ + info.begin + from, out);
}

Result<uint32_t> File::Checksum() const {
  std::vector<std::byte> part(1 << 20);
  uint32_t sum = 0;
  for (uint64_t at = 0; at < size_; at += part.size()) {
    const auto bytes =
        std::span(part).first(std::min<uint64_t>(part.size(), size_ - at));
    PP_RETURN_IF_ERROR(ReadAt(at, bytes));
    sum = Crc32(bytes, sum);
  }
  return sum;
}

Status Write(const std::string& path, std::span<const TensorView> tensors,
             const std::map<std::string, std::string>& metadata) {
  // Keys in the order of the tensors: some readers map the data in it.
  nlohmann::ordered_json header = nlohmann::ordered_json::object();
  if (!metadata.empty()) header["__metadata__"] = metadata;
  uint64_t at = 0;
  for (const TensorView& tensor : tensors) {
    const uint64_t end = at + tensor.values.size_bytes();
    header[tensor.name] = {
        {"dtype", "F32"}, {"shape", tensor.shape}, {"data_offsets", {at, end}}};
    at = end;
  }
  std::string json = header.dump(
      -1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  json.append((kAlignment - json.size() % kAlignment) % kAlignment, ' ');
  ByteWriter out;
  out.Reserve(kLengthBytes + json.size() + at);
  out.U64(json.size(), "length of the header");
  out.Bytes(std::as_bytes(std::span(json)), "header");
  for (const TensorView& tensor : tensors) {
    out.Bytes(std::as_bytes(tensor.values), "tensor {}", tensor.name);
  }
  return WriteFile(path, out.bytes());
}

}  // namespace pp::weights
