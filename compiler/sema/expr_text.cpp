#include "compiler/sema/expr_text.h"

#include <fmt/format.h>

namespace pp::sema {
namespace {

struct Writer {
  std::string operator()(const ast::IntLiteral& e) const {
    return fmt::format("{}", e.value);
  }
  std::string operator()(const ast::NameRef& e) const { return e.name; }
  std::string operator()(const ast::UnaryExpr& e) const {
    return fmt::format("(u{} {})", static_cast<int>(e.op),
                       ExprText(*e.operand));
  }
  std::string operator()(const ast::BinaryExpr& e) const {
    return fmt::format("(b{} {} {})", static_cast<int>(e.op), ExprText(*e.left),
                       ExprText(*e.right));
  }
  std::string operator()(const ast::CallExpr& e) const {
    std::string text = fmt::format("({}", e.callee.text);
    for (const ast::ExprPtr& arg : e.args) {
      text += fmt::format(" {}", ExprText(*arg));
    }
    text += ')';
    return text;
  }
  std::string operator()(const ast::ConditionalExpr& e) const {
    return fmt::format("(? {} {} {})", ExprText(*e.condition),
                       ExprText(*e.then_value), ExprText(*e.else_value));
  }
};

}  // namespace

std::string ExprText(const ast::Expr& expr) {
  return std::visit(Writer{}, expr.node);
}

}  // namespace pp::sema
