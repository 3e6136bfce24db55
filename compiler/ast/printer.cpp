#include "compiler/ast/printer.h"

#include "fmt/format.h"

namespace pp::ast {
namespace {

std::string PrintList(const std::vector<ExprPtr>& exprs) {
  std::string text;
  for (const ExprPtr& expr : exprs) {
    if (!text.empty()) text += ", ";
    text += Print(*expr);
  }
  return text;
}

std::string PrintNames(const std::vector<Identifier>& names) {
  std::string text;
  for (const Identifier& name : names) {
    if (!text.empty()) text += ", ";
    text += name.text;
  }
  return text;
}

std::string Quoted(const std::string& text) {
  std::string quoted = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + '"';
}

struct ExprPrinter {
  std::string operator()(const IntLiteral& e) const {
    return std::to_string(e.value);
  }
  std::string operator()(const NameRef& e) const { return e.name; }
  std::string operator()(const UnaryExpr& e) const {
    return fmt::format("({}{})", Spelling(e.op), Print(*e.operand));
  }
  std::string operator()(const BinaryExpr& e) const {
    return fmt::format("({} {} {})", Print(*e.left), Spelling(e.op),
                       Print(*e.right));
  }
  std::string operator()(const CallExpr& e) const {
    return fmt::format("{}({})", e.callee.text, PrintList(e.args));
  }
  std::string operator()(const ConditionalExpr& e) const {
    return fmt::format("({} ? {} : {})", Print(*e.condition),
                       Print(*e.then_value), Print(*e.else_value));
  }
};

class Printer {
 public:
  std::string Take() { return std::move(text_); }

  void Line(std::string_view text) {
    text_.append(2 * level_, ' ');
    text_ += text;
    text_ += '\n';
  }

  // `head` { lines }, where `inside` writes the lines.
  template <class Inside>
  void Braces(const std::string& head, Inside inside) {
    Line(head + " {");
    ++level_;
    inside();
    --level_;
    Line("}");
  }

  void Body(const std::string& head, const Block& block) {
    Braces(head, [&] { Lines(block); });
  }

  void Lines(const Block& block) {
    for (const Stmt& stmt : block) std::visit(*this, stmt.node);
  }

  // ---- Statements ----

  void operator()(const OpStmt& s) {
    Line(s.other ? Term(s) + " & " + Term(*s.other) : Term(s));
  }
  void operator()(const LetStmt& s) {
    Line(fmt::format("let {} = {}", s.name.text, Print(*s.value)));
  }
  void operator()(const PhaseStmt& s) { Body("phase " + s.name.text, s.body); }
  void operator()(const RepeatStmt& s) {
    Body("repeat " + Print(*s.count), s.body);
  }
  void operator()(const ForStmt& s) {
    Body(fmt::format("for {} in {}..{}", s.name.text, Print(*s.begin),
                     Print(*s.end)),
         s.body);
  }
  void operator()(const IfStmt& s) {
    Body("if " + Print(*s.condition), s.then_body);
    if (!s.else_body.empty()) Body("else", s.else_body);
  }
  void operator()(const MacroCall& s) {
    Line(fmt::format("{}({})", s.callee.text, PrintList(s.args)));
  }

  // ---- Lines of a schedule ----

  void operator()(const RequireDecl& d) {
    Line("require " + Print(*d.condition) +
         (d.message ? ", " + Quoted(*d.message) : ""));
  }
  void operator()(const PlaceDecl& d) {
    std::visit([&](const auto& kind) { Place(kind); }, d.kind);
  }
  void operator()(const WalkDecl& d) {
    Line(fmt::format("walk {} by ({})", Spelling(d.op), PrintList(d.key)));
  }
  void operator()(const RankDecl& d) {
    switch (d.form) {
      case RankForm::kProgram:
        return Body("rank " + Range(d), d.body);
      case RankForm::kSlots:
        return Body("slots " + Range(d), d.body);
      case RankForm::kBlock:
        return Body(
            fmt::format("block {} every {}", Range(d), Print(*d.period)),
            d.body);
    }
  }
  void operator()(const MacroDecl& d) {
    Body(fmt::format("macro {}({})", d.name.text, PrintNames(d.params)),
         d.body);
  }
  void operator()(const ExpectDecl& d) {
    Line("expect " + Print(*d.claim) +
         (d.condition ? " when " + Print(*d.condition) : ""));
  }

  void operator()(const QuantitiesDecl& d) {
    std::string words;
    for (char c : d.text) {
      const bool blank = c == ' ' || c == '\t' || c == '\n' || c == '\r';
      if (!blank) words += c;
      if (blank && !words.empty() && words.back() != ' ') words += ' ';
    }
    if (!words.empty() && words.back() == ' ') words.pop_back();
    Line(fmt::format("{} {{ {} }}", d.memory ? "mem" : "cost", words));
  }

  void Schedule(const ScheduleDecl& d) {
    Braces(Head(d), [&] {
      for (const Item& item : d.items) std::visit(*this, item.node);
    });
  }

 private:
  static std::string Term(const OpStmt& s) {
    std::string text(Spelling(s.op));
    if (s.chunk) text += fmt::format("[{}]", Print(*s.chunk));
    if (s.micro_batch) text += fmt::format("@{}", Print(*s.micro_batch));
    if (s.slot) text += fmt::format(" at {}", Print(*s.slot));
    return text;
  }
  void Place(const PlaceLinear&) { Line("place linear"); }
  void Place(const PlaceVee&) { Line("place vee"); }
  void Place(const PlaceLoop& p) {
    Line(fmt::format("place loop({})", Print(*p.chunks)));
  }
  void Place(const PlaceWave& p) {
    Line(fmt::format("place wave({})", Print(*p.chunks)));
  }
  void Place(const PlaceCustom& p) {
    Braces("place custom", [&] {
      for (const CustomRule& rule : p.rules) {
        std::string text = "stage " + Range(rule);
        text += " -> rank " + Print(*rule.rank);
        if (rule.chunk) text += ", chunk " + Print(*rule.chunk);
        Line(text);
      }
    });
  }

  // A lone name in parentheses is an expression; without, it is bound.
  template <class Ranged>
  static std::string Range(const Ranged& d) {
    if (d.end) {
      return fmt::format("{} in {}..{}", d.variable->text, Print(*d.begin),
                         Print(*d.end));
    }
    return d.begin ? fmt::format("({})", Print(*d.begin)) : d.variable->text;
  }

  static std::string Head(const ScheduleDecl& d) {
    std::string params;
    for (const Parameter& p : d.params) {
      if (!params.empty()) params += ", ";
      params += p.name.text;
      if (p.default_value) params += " = " + Print(*p.default_value);
    }
    return fmt::format("schedule {}({}){}", d.name.text, params,
                       d.parent ? " extends " + d.parent->text : "");
  }

  std::string text_;
  size_t level_ = 0;
};

}  // namespace

std::string Print(const File& file) {
  Printer printer;
  for (const ImportDecl& d : file.imports) {
    printer.Line("import " + Quoted(d.path));
  }
  for (const MacroDecl& d : file.macros) printer(d);
  for (const ScheduleDecl& d : file.schedules) printer.Schedule(d);
  return printer.Take();
}

std::string Print(const Expr& expr) {
  return std::visit(ExprPrinter(), expr.node);
}

std::string Print(const Stmt& stmt) {
  Printer printer;
  std::visit(printer, stmt.node);
  return printer.Take();
}

std::string_view Spelling(UnaryOp op) {
  switch (op) {
    case UnaryOp::kNegate:
      return "-";
    case UnaryOp::kNot:
      return "!";
  }
  return "";
}

std::string_view Spelling(BinaryOp op) {
  switch (op) {
    case BinaryOp::kAdd:
      return "+";
    case BinaryOp::kSub:
      return "-";
    case BinaryOp::kMul:
      return "*";
    case BinaryOp::kDiv:
      return "/";
    case BinaryOp::kMod:
      return "%";
    case BinaryOp::kEq:
      return "==";
    case BinaryOp::kNe:
      return "!=";
    case BinaryOp::kLt:
      return "<";
    case BinaryOp::kLe:
      return "<=";
    case BinaryOp::kGt:
      return ">";
    case BinaryOp::kGe:
      return ">=";
    case BinaryOp::kAnd:
      return "&&";
    case BinaryOp::kOr:
      return "||";
  }
  return "";
}

std::string_view Spelling(OpLetter op) {
  switch (op) {
    case OpLetter::kF:
      return "F";
    case OpLetter::kB:
      return "B";
    case OpLetter::kI:
      return "I";
    case OpLetter::kW:
      return "W";
  }
  return "";
}

}  // namespace pp::ast
