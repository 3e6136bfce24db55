#include "compiler/view/svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace pp::view {
namespace {

using ir::Ticks;

// Hue, saturation and lightness; each further chunk is darker.
struct Colour {
  int hue, saturation, lightness;
};
constexpr std::array<Colour, ir::kOpKinds> kColours = {
    {{212, 68, 66}, {133, 42, 58}, {175, 50, 62}, {43, 85, 66}}};

std::string Escape(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

// Pixels. Few ranks get tall rows; what is measured has its own half.
struct Layout {
  double left = 56, top = 62, right = 16;
  double row = 26, gap = 5, font = 11;
  double width = 1400;  // of the time axis
  double scale = 0;     // pixels a tick
  bool measured = false;

  explicit Layout(const Picture& picture) {
    measured = !picture.measured_caption.empty();
    if (picture.rows.size() > 16) {
      row = 13;
      gap = 2;
      font = 8;
    }
    if (measured) row *= 1.7;
    // Room for the labels of the shortest operations, within reason.
    Ticks shortest = picture.end;
    for (const Row& r : picture.rows) {
      for (const Box& box : r.simulated) {
        shortest = std::min(shortest, box.end - box.begin);
      }
    }
    const double end = static_cast<double>(std::max<Ticks>(1, picture.end));
    const double wanted =
        20 * end / static_cast<double>(std::max<Ticks>(1, shortest));
    width = std::clamp(wanted, 700.0, 3200.0);
    scale = width / end;
  }
  double X(Ticks t) const { return left + static_cast<double>(t) * scale; }
  double Y(size_t rank) const {
    return top + static_cast<double>(rank) * (row + gap);
  }
};

class Writer {
 public:
  explicit Writer(const Picture& picture) : picture_(picture), at_(picture) {}

  std::string Run() {
    const double height = at_.Y(picture_.rows.size()) + 34;
    Add("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:.0f} "
        "{1:.0f}\" width=\"{0:.0f}\" "
        "height=\"{1:.0f}\" font-family=\"sans-serif\" font-size=\"{2}\">\n"
        "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n",
        at_.left + at_.width + at_.right, height, at_.font);
    Head();
    for (size_t r = 0; r < picture_.rows.size(); ++r) DrawRow(r);
    Axis(at_.Y(picture_.rows.size()) + 4);
    out_ += "</svg>\n";
    return std::move(out_);
  }

 private:
  template <class... Args>
  void Add(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(out_), format,
                   std::forward<Args>(args)...);
  }

  void Head() {
    const ir::Metrics& m = picture_.metrics;
    Add("<text x=\"10\" y=\"20\" font-size=\"15\" font-weight=\"bold\">{}"
        "</text>\n",
        Escape(picture_.title));
    Add("<text x=\"10\" y=\"37\" font-size=\"11\">makespan {}{}; bubble "
        "{:.2f} % of P x makespan, {:.2f} % over work, {:.2f} % of the "
        "longest rank; costs {}</text>\n",
        ir::PrintTicks(m.makespan), picture_.unit, 100 * m.bubble_fraction,
        100 * m.bubble_overhead, 100 * m.bubble_longest_stage,
        Escape(picture_.costs));
    double x = 10;
    for (size_t k = 0; k < ir::kOpKinds; ++k) {
      if (!Uses(static_cast<ir::OpKind>(k))) continue;
      Add("<rect x=\"{:.0f}\" y=\"44\" width=\"12\" height=\"10\" "
          "fill=\"{}\"/><text x=\"{:.0f}\" y=\"53\" font-size=\"11\">{}"
          "</text>\n",
          x, ColourOf(static_cast<ir::OpKind>(k), 0), x + 16, ir::kOpNames[k]);
      x += 40;
    }
    if (!picture_.measured_caption.empty()) {
      Add("<text x=\"{:.0f}\" y=\"53\" font-size=\"11\">upper: simulated, "
          "lower: {}</text>\n",
          x + 10, Escape(picture_.measured_caption));
    }
  }

  bool Uses(ir::OpKind kind) const {
    for (const Row& row : picture_.rows) {
      for (const Box& box : row.simulated) {
        if (box.kind == kind) return true;
      }
    }
    return false;
  }

  void DrawRow(size_t rank) {
    const Row& row = picture_.rows[rank];
    const double y = at_.Y(rank);
    Add("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"end\">rank {}</text>\n"
        "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" "
        "fill=\"#eee\"/>\n",
        at_.left - 6, y + at_.row / 2 + at_.font * 0.35, rank, at_.left, y,
        at_.width, at_.row);
    const double height = at_.measured ? at_.row / 2 - 0.5 : at_.row;
    for (const Box& box : row.simulated) DrawBox(box, y, height);
    for (const Box& box : row.measured) {
      DrawBox(box, y + at_.row / 2 + 0.5, height);
    }
  }

  void DrawBox(const Box& box, double y, double height) {
    const double x = at_.X(box.begin);
    const double width = at_.X(box.end) - x;
    const Place& place = picture_.places[box.place];
    Add("<g><title>{} stage {} micro-batch {}: {} to {}{}{}{}</title><rect "
        "x=\"{:.2f}\" y=\"{:.2f}\" width=\"{:.2f}\" height=\"{:.2f}\" "
        "fill=\"{}\" stroke=\"#fff\" stroke-width=\"{}\"/>",
        ir::kOpNames[static_cast<size_t>(box.kind)], box.stage, box.mb,
        ir::PrintTicks(box.begin), ir::PrintTicks(box.end), picture_.unit,
        place.at.empty() ? "" : "\n", Escape(place.at), x, y, width, height,
        ColourOf(box.kind, box.chunk), width < 4 ? 0.2 : 0.6);
    const std::string label = Label(picture_, box);
    if (width >= 0.62 * at_.font * static_cast<double>(label.size()) + 1) {
      Add("<text x=\"{:.2f}\" y=\"{:.2f}\" text-anchor=\"middle\">{}</text>",
          x + width / 2, y + height / 2 + at_.font * 0.35, Escape(label));
    }
    out_ += "</g>\n";
  }

  // About ten marks, at 1, 2 or 5 times a power of ten.
  void Axis(double y) {
    Ticks step = 1;
    const Ticks wanted = std::max<Ticks>(1, picture_.end / 10);
    for (int i = 0; step < wanted; ++i)
      step = step / (i % 3 == 1 ? 2 : 1) * (i % 3 == 1 ? 5 : 2);
    for (Ticks t = 0;; t += step) {
      Add("<line x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"{1:.1f}\" y2=\"{2:.1f}\" "
          "stroke=\"#888\"/><text x=\"{0:.1f}\" y=\"{3:.1f}\" "
          "text-anchor=\"middle\" font-size=\"10\">{4}{5}</text>\n",
          at_.X(t), y, y + 5, y + 17, ir::PrintTicks(t),
          t == 0 ? "" : picture_.unit);
      if (picture_.end - t < step) return;
    }
  }

  const Picture& picture_;
  Layout at_;
  std::string out_;
};

}  // namespace

std::string ColourOf(ir::OpKind kind, uint32_t chunk) {
  const Colour& colour = kColours[static_cast<size_t>(kind)];
  return fmt::format("hsl({},{}%,{}%)", colour.hue, colour.saturation,
                     colour.lightness + (chunk % 2 == 1 ? 16 : 0) -
                         static_cast<int>(chunk / 2 % 3) * 8);
}

Result<std::string> Svg(const Picture& picture) {
  const size_t boxes = CountBoxes(picture);
  if (boxes > kMaxSvgBoxes) {
    return Fail(UsageError(fmt::format(
        "{} operations are too many for SVG (at most {}); write .html or .json",
        boxes, kMaxSvgBoxes)));
  }
  return Writer(picture).Run();
}

}  // namespace pp::view
