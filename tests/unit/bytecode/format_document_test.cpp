// The worked example of FORMAT.md is what the program prints.
#include <gtest/gtest.h>

#include <sstream>

#include "runtime/base/file_io.h"
#include "runtime/bytecode/dump.h"
#include "runtime/bytecode/text.h"
#include "runtime/bytecode/verifier.h"

namespace pp::bytecode {
namespace {

// The first block of this language in a Markdown text.
std::string CodeBlock(const std::string& document, const std::string& name) {
  const std::string fence = "```" + name + "\n";
  const size_t begin = document.find(fence);
  if (begin == std::string::npos) return "no block " + name;
  const size_t from = begin + fence.size();
  return document.substr(from, document.find("```", from) - from);
}

TEST(FormatDocument, TheExampleIsTrue) {
  const std::string path =
      std::string(PP_SOURCE_ROOT) + "/runtime/bytecode/FORMAT.md";
  const auto document = ReadTextFile(path);
  ASSERT_TRUE(document) << document.error().message();
  const auto module = Parse(CodeBlock(*document, "ppasm"), path);
  ASSERT_TRUE(module) << module.error().message();
  const Status verified = Verify(*module);
  ASSERT_TRUE(verified.ok()) << verified.message();
  std::ostringstream dump;
  ASSERT_TRUE(Dump(*module, {.hex = true}, dump).ok());
  EXPECT_EQ(dump.str(), CodeBlock(*document, "hex"));
}

}  // namespace
}  // namespace pp::bytecode
