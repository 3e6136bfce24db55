// Named float32 tensors in a file: the safetensors format
// (https://github.com/huggingface/safetensors), which PyTorch, JAX and others
// read and write.
//
//   8 bytes    length n of the header, little-endian
//   n bytes    JSON: {"name": {"dtype": "F32", "shape": [2, 3],
//              "data_offsets": [begin, end]}, "__metadata__": {text: text}}
//   the rest   the tensors, row by row, little-endian; offsets count from here
//
// Nothing a file says is believed: every length is compared with the file's
// before memory is taken for it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/status.h"

namespace pp::weights {

using Shape = std::vector<int64_t>;
std::string ShapeText(const Shape& shape);  // "[2, 3]"

struct TensorInfo {
  std::string dtype;  // "F32"
  Shape shape;
  uint64_t begin = 0;  // in bytes, from the begin of the data
  uint64_t end = 0;
};

// Ordered by name, so that nothing depends on the order in the file.
struct Header {
  std::map<std::string, TensorInfo, std::less<>> tensors;
  std::map<std::string, std::string> metadata;
};

// kInput with what is wrong: no JSON, a name twice, an unknown dtype, a shape
// that does not fit its bytes, tensors that overlap, leave a hole or end
// elsewhere than the `data_bytes` bytes that follow the header.
Result<Header> ParseHeader(std::string_view json, uint64_t data_bytes);

// A file whose header has been read and checked; tensors are read when asked
// for. Of any thread.
class File {
 public:
  // kInput: no such file, or a damaged one, by name and cause; kMachine: it
  // cannot be read.
  static Result<std::shared_ptr<const File>> Open(const std::string& path);
  ~File();
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  const std::string& path() const { return path_; }
  const Header& header() const { return header_; }
  const TensorInfo* Find(std::string_view name) const;  // null: not there

  // kInput: there is no such tensor, it is no F32 one, or has another number
  // of values than `out`; kMachine: the file has changed, or cannot be read.
  Status Read(std::string_view name, std::span<float> out) const;

  // Bytes of a tensor of any dtype, from its byte `from`. kInput: beyond it;
  // kMachine as above.
  Status ReadBytes(const TensorInfo& info, uint64_t from,
                   std::span<std::byte> out) const;

  // CRC-32 of the whole file. Reads all of it.
  Result<uint32_t> Checksum() const;

 private:
  File(std::string path, int fd) : path_(std::move(path)), fd_(fd) {}
  Status ReadHeader();
  Status ReadAt(uint64_t offset, std::span<std::byte> out) const;

  std::string path_;
  int fd_;
  uint64_t size_ = 0;
  uint64_t data_at_ = 0;  // where the data begin
  Header header_;
};

// What is to be written. `values` are as many as the shape says.
struct TensorView {
  std::string name;
  Shape shape;
  std::span<const float> values;
};

// In the order given, names once each; the same tensors give the same bytes.
// kMachine: the file cannot be written, and the old one is as it was.
Status Write(const std::string& path, std::span<const TensorView> tensors,
             const std::map<std::string, std::string>& metadata = {});

}  // namespace pp::weights
