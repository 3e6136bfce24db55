// Parses texts and shows trees and errors as text.
#pragma once

#include <string>

#include "compiler/ast/printer.h"
#include "compiler/diag/renderer.h"
#include "compiler/parse/parse.h"
#include "gtest/gtest.h"

namespace pp::parse {

class ParseTest : public testing::Test {
 protected:
  std::optional<ast::File> ParseText(std::string text) {
    file_ = sources_.AddText("a.sched", std::move(text));
    return Parse(sources_, file_, diag_);
  }

  // The tree as text, or the errors.
  std::string Tree(std::string text) {
    const auto file = ParseText(std::move(text));
    return file ? ast::Print(*file) : Shown();
  }

  // The statements of one rank program, without indentation.
  std::string Statements(const std::string& text) {
    const auto file = ParseText("schedule s(P, M) { rank r { " + text + " } }");
    if (!file) return Shown();
    std::string printed;
    const auto& rank =
        std::get<ast::RankDecl>(file->schedules.at(0).items.at(0).node);
    for (const ast::Stmt& stmt : rank.body) printed += ast::Print(stmt);
    return printed;
  }

  std::string Expression(const std::string& text) {
    const auto file = ParseText("schedule s(P, M) { let x = " + text + " }");
    if (!file) return Shown();
    const auto& item = file->schedules.at(0).items.at(0);
    return ast::Print(*std::get<ast::LetStmt>(item.node).value);
  }

  std::string Shown() const {
    return diag::Render(diag_, sources_, /*colour=*/false);
  }

  // One line an error: "line:column: message", "  note: ...", "  help: ...".
  std::string Errors(std::string text) {
    diag::Emitter fresh;
    file_ = sources_.AddText("a.sched", std::move(text));
    const auto tree = Parse(sources_, file_, fresh);
    EXPECT_EQ(tree.has_value(), !fresh.has_errors());
    std::string shown;
    for (const diag::Diagnostic* d : fresh.Sorted()) {
      const diag::Place place = diag::Resolve(d->where, sources_);
      shown += std::to_string(place.line) + ":" + std::to_string(place.column) +
               ": " + d->message + "\n";
      for (const diag::Note& note : d->notes) {
        shown += "  note: " + note.message + "\n";
      }
      if (!d->help.empty()) shown += "  help: " + d->help + "\n";
    }
    return shown;
  }

  source::SourceManager sources_;
  diag::Emitter diag_;
  uint32_t file_ = 0;
};

}  // namespace pp::parse
