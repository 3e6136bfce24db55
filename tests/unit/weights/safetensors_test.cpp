#include "runtime/weights/safetensors.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>

namespace pp::weights {
namespace {

class Safetensors : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "/weightsXXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
    path_ = folder_ + "/w.safetensors";
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string Bytes() const {
    std::ifstream in(path_, std::ios::binary);
    std::stringstream text;
    text << in.rdbuf();
    return text.str();
  }
  void Put(const std::string& bytes) const {
    std::ofstream(path_, std::ios::binary) << bytes;
  }
  // A file of this header and so many bytes of data.
  void Put(const std::string& json, size_t data_bytes) const {
    uint64_t length = json.size();
    std::string bytes(8, '\0');
    std::memcpy(bytes.data(), &length, 8);
    Put(bytes + json + std::string(data_bytes, '\0'));
  }
  std::string Complaint() const {
    const auto file = File::Open(path_);
    if (file) return "accepted";
    EXPECT_EQ(file.error().code(), StatusCode::kInput);
    EXPECT_NE(file.error().message().find(path_), std::string::npos);
    return file.error().message();
  }

  std::string folder_, path_;
};

TEST_F(Safetensors, WhatIsWrittenIsReadBitForBit) {
  const std::vector<float> a = {1.5f,
                                -0.0f,
                                1e-42f,
                                std::numeric_limits<float>::quiet_NaN(),
                                std::numeric_limits<float>::infinity(),
                                3};
  const std::vector<float> b = {7};
  const std::vector<TensorView> tensors = {
      {"layers.0.weight", {2, 3}, a}, {"scalar", {}, b}, {"none", {0, 4}, {}}};
  ASSERT_TRUE(Write(path_, tensors, {{"model", "mlp"}}).ok());
  const auto file = File::Open(path_);
  ASSERT_TRUE(file) << file.error().message();
  EXPECT_EQ((*file)->header().metadata.at("model"), "mlp");
  ASSERT_NE((*file)->Find("layers.0.weight"), nullptr);
  EXPECT_EQ((*file)->Find("layers.0.weight")->shape, (Shape{2, 3}));
  EXPECT_EQ((*file)->Find("layers"), nullptr);
  std::vector<float> back(6);
  ASSERT_TRUE((*file)->Read("layers.0.weight", back).ok());
  EXPECT_EQ(std::memcmp(back.data(), a.data(), 24), 0);
  const std::string once = Bytes();
  EXPECT_EQ(once.size() % 4, 0u);
  ASSERT_TRUE(Write(path_, tensors, {{"model", "mlp"}}).ok());
  EXPECT_EQ(Bytes(), once);
}

TEST_F(Safetensors, ReadingSomethingElseIsAnError) {
  const std::vector<float> values = {1, 2};
  ASSERT_TRUE(Write(path_, std::vector<TensorView>{{"a", {2}, values}}).ok());
  const auto file = File::Open(path_);
  ASSERT_TRUE(file);
  std::vector<float> three(3);
  EXPECT_EQ((*file)->Read("a", three).code(), StatusCode::kInput);
  EXPECT_EQ((*file)->Read("b", three).code(), StatusCode::kInput);
  // The file becomes shorter behind the reader's back.
  std::filesystem::resize_file(path_, Bytes().size() - 4);
  std::vector<float> two(2);
  EXPECT_EQ((*file)->Read("a", two).code(), StatusCode::kMachine);
}

TEST_F(Safetensors, EveryTruncationIsAnError) {
  const std::vector<float> values = {1, 2, 3};
  ASSERT_TRUE(Write(path_, std::vector<TensorView>{{"a", {3}, values}}).ok());
  const std::string whole = Bytes();
  for (size_t size = 0; size < whole.size(); ++size) {
    Put(whole.substr(0, size));
    EXPECT_NE(Complaint(), "accepted") << size << " bytes";
  }
  Put(whole + "x");
  EXPECT_NE(Complaint(), "accepted");
}

TEST_F(Safetensors, NoDamagedByteOfTheHeaderCrashes) {
  const std::vector<float> values = {1, 2, 3};
  ASSERT_TRUE(
      Write(path_, std::vector<TensorView>{{"a", {3}, values}}, {{"k", "v"}})
          .ok());
  const std::string whole = Bytes();
  for (size_t at = 0; at + 12 < whole.size(); ++at) {
    for (const int bit : {0, 3, 7}) {
      std::string damaged = whole;
      damaged[at] = static_cast<char>(damaged[at] ^ (1 << bit));
      Put(damaged);
      const auto file = File::Open(path_);
      if (!file) continue;  // a changed letter of a name reads well
      for (const auto& [name, info] : (*file)->header().tensors) {
        EXPECT_LE(info.end, 12u);
      }
    }
  }
}

struct Damage {
  const char* json;
  size_t data_bytes;
  const char* says;
};

TEST_F(Safetensors, ADamagedHeaderIsNamed) {
  const Damage rows[] = {
      {"[]", 0, "no JSON object"},
      {"{", 0, "no JSON object"},
      {R"({"a":1})", 0, "tensor \"a\" is not described"},
      {R"({"a":{"shape":[1],"data_offsets":[0,4]}})", 4, "has no dtype"},
      {R"({"a":{"dtype":"F33","shape":[1],"data_offsets":[0,4]}})", 4,
       "unknown dtype \"F33\""},
      {R"({"a":{"dtype":"F32","data_offsets":[0,4]}})", 4, "has no shape"},
      {R"({"a":{"dtype":"F32","shape":[-1],"data_offsets":[0,4]}})", 4,
       "not whole numbers"},
      {R"({"a":{"dtype":"F32","shape":[1]}})", 4, "no two data_offsets"},
      {R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4,8]}})", 8,
       "no two data_offsets"},
      {R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,4]}})", 4,
       "has 4 bytes, but the shape [2] of F32"},
      {R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})", 3,
       "bytes 0 to 4 of 3"},
      {R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[4,0]}})", 4,
       "bytes 4 to 0"},
      {R"({"a":{"dtype":"F32","shape":[4611686018427387904,4],)"
       R"("data_offsets":[0,0]}})",
       0, "has 0 bytes"},
      {R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},)"
       R"("b":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})",
       4, "inside another"},
      {R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})", 8,
       "after a hole"},
      {R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})", 8,
       "have 4 bytes, the file 8"},
      {R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},)"
       R"("a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})",
       4, "tensor \"a\" is there twice"},
      {R"({"__metadata__":{"a":1}})", 0, "is no text"},
      {R"({"__metadata__":3})", 0, "is no object"},
  };
  for (const Damage& row : rows) {
    Put(row.json, row.data_bytes);
    EXPECT_NE(Complaint().find(row.says), std::string::npos)
        << row.json << " says: " << Complaint();
  }
}

TEST_F(Safetensors, AnAnnouncedLengthTakesNoMemory) {
  std::string bytes(8, '\xff');
  Put(bytes + "{}");
  EXPECT_NE(Complaint().find("announces a header of 18446744073709551615"),
            std::string::npos);
  Put(std::string("\x00\x10\x00\x00\x00\x00\x00\x00", 8) + "{}");
  EXPECT_NE(Complaint().find("announces a header of 4096"), std::string::npos);
}

TEST_F(Safetensors, DeepNestingEnds) {
  Put(std::string(100'000, '[') + std::string(100'000, ']'), 0);
  EXPECT_NE(Complaint(), "accepted");
  Put(R"({"a":)" + std::string(100'000, '[') + std::string(100'000, ']') + "}",
      0);
  EXPECT_NE(Complaint(), "accepted");
}

TEST_F(Safetensors, FilesThatAreNone) {
  EXPECT_EQ(File::Open(folder_).error().code(), StatusCode::kInput);
  EXPECT_EQ(File::Open(folder_ + "/none").error().code(), StatusCode::kInput);
  EXPECT_EQ(Write(folder_ + "/none/w", {}).code(), StatusCode::kMachine);
}

}  // namespace
}  // namespace pp::weights
