#include "compiler/ir/cost_file.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <set>
#include <utility>
#include <vector>

#include "compiler/ir/cost_text.h"

namespace pp::ir {
namespace {

using Json = nlohmann::json;

// One object of the file as the notation of cost_text.h, and back from an
// offset into that to the key.
class Section {
 public:
  void Add(const std::string& key, const std::string& value) {
    if (!text_.empty()) text_ += ", ";
    begins_.push_back({text_.size(), key});
    text_ += key + " = " + value;
  }
  const std::string& text() const { return text_; }
  std::string KeyAt(size_t at) const {
    std::string key;
    for (const auto& [begin, name] : begins_) {
      if (begin <= at && at < text_.size()) key = ", key `" + name + "`";
    }
    return key;
  }

 private:
  std::string text_;
  std::vector<std::pair<size_t, std::string>> begins_;
};

// Reads the file in one pass, so that keys given twice are seen.
class Reader final : public nlohmann::json_sax<Json> {
 public:
  std::optional<Section> cost, memory;
  std::string fault;

  bool null() override { return NoText("null"); }
  bool boolean(bool) override { return NoText("true or false"); }
  bool number_integer(number_integer_t) override { return Number(); }
  bool number_unsigned(number_unsigned_t) override { return Number(); }
  bool number_float(number_float_t, const string_t&) override {
    return Number();
  }
  bool binary(binary_t&) override { return NoText("binary data"); }

  bool string(string_t& value) override {
    if (Ignored()) return true;
    if (depth_ != 2) return NoText("a text");
    if (value.find_first_of(",=") != std::string::npos) {
      return Fault(fmt::format("`{}` is no quantity", value));
    }
    section_->Add(key_, value);
    return true;
  }

  bool start_object(size_t) override {
    ++depth_;
    if (Ignored() || depth_ == 1) return true;
    if (depth_ == 2 && (part_ == "cost" || part_ == "mem")) {
      section_ = &(part_ == "cost" ? cost : memory).emplace();
      keys_.clear();
      return true;
    }
    return NoText("an object");
  }
  bool end_object() override {
    --depth_;
    return true;
  }
  bool start_array(size_t) override {
    ++depth_;
    return Ignored() || NoText("a list");
  }
  bool end_array() override {
    --depth_;
    return true;
  }

  bool key(string_t& name) override {
    if (depth_ == 1) {
      part_ = name;
      key_.clear();
      if (!parts_.insert(name).second) return Fault("is given twice");
      if (name == "cost" || name == "mem" || name == "from") return true;
      return Fault("is not known; known are `cost`, `mem`, `from`");
    }
    if (Ignored()) return true;
    key_ = name;
    if (!keys_.insert(name).second) return Fault("is given twice");
    constexpr const char* kWord =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.";
    if (!name.empty() && name.find_first_not_of(kWord) == std::string::npos) {
      return true;
    }
    return Fault("is no name of a cost or size");
  }

  bool parse_error(size_t, const std::string&,
                   const Json::exception& error) override {
    // "[json.exception.parse_error.101] parse error at line 1, column 2: ..."
    const std::string what = error.what();
    const size_t at = what.find("at line");
    fault = at == std::string::npos ? what : what.substr(at + 3);
    return false;
  }

 private:
  bool Ignored() const { return depth_ >= 1 && part_ == "from"; }
  bool Number() {
    if (Ignored()) return true;
    return depth_ == 2 ? Fault(
                             "is a number; write a text with its unit, such "
                             "as \"1.5ms\" or \"4MiB\"")
                       : NoText("a number");
  }
  bool NoText(const char* what) {
    if (Ignored()) return true;
    if (depth_ == 0) return Fault(fmt::format("the file is {}", what));
    return Fault(fmt::format("{} cannot stand here", what));
  }
  bool Fault(const std::string& what) {
    if (!part_.empty()) fault = "`" + part_ + "`";
    if (!key_.empty()) fault += ", key `" + key_ + "`";
    fault += (fault.empty() ? "" : ": ") + what;
    return false;
  }

  int depth_ = 0;
  std::string part_, key_;
  std::set<std::string> parts_, keys_;
  Section* section_ = nullptr;
};

template <class Model>
Result<Model> Read(const Section& section, const char* part,
                   const std::string& name,
                   tl::expected<Model, TextFault> (*read)(std::string_view)) {
  auto model = read(section.text());
  if (model) return std::move(*model);
  return Fail(InputError(fmt::format("{}: `{}`{}: {}", name, part,
                                     section.KeyAt(model.error().at),
                                     model.error().what)));
}

}  // namespace

Result<CostFile> ParseCostFile(std::string_view json, const std::string& name) {
  Reader reader;
  if (!Json::sax_parse(json, &reader)) {
    return Fail(InputError(fmt::format("{}: {}", name, reader.fault)));
  }
  if (!reader.cost && !reader.memory) {
    return Fail(
        InputError(fmt::format("{}: neither `cost` nor `mem` is given", name)));
  }
  CostFile file;
  if (reader.cost) {
    PP_ASSIGN_OR_RETURN(file.costs,
                        Read(*reader.cost, "cost", name, &ReadCosts));
    if (!file.costs->timed) {
      return Fail(InputError(fmt::format(
          "{}: `cost`: the costs have no unit of time; write \"1.5ms\"",
          name)));
    }
  }
  if (reader.memory) {
    PP_ASSIGN_OR_RETURN(file.memory,
                        Read(*reader.memory, "mem", name, &ReadMemory));
  }
  return file;
}

}  // namespace pp::ir
