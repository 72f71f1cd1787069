// Layout: a band of labels, a row of column captions, a grid of cells, then the missing order.
#include "harness/report/report_svg.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "harness/report/run_report.hpp"

namespace warpcheck {
namespace {

using Mark = Interleaving::Mark;

constexpr int kCellWidth = 30, kCellHeight = 26, kCaptionHeight = 58, kLetterWidth = 8;
constexpr int kFooter = 44;

const char* class_of(Mark mark) {
  switch (mark) {
    case Mark::none: break;
    case Mark::read: return "read";
    case Mark::write: return "write";
    case Mark::atomic: return "atomic";
    case Mark::fault: return "fault";
    case Mark::event: return "event";
    case Mark::barrier: return "barrier";
    case Mark::decided: return "decided";
    case Mark::held: return "held";
    case Mark::older: return "older";
  }
  return "";
}

const char* letter_of(Mark mark) {
  switch (mark) {
    case Mark::read: return "R";
    case Mark::write: return "W";
    case Mark::atomic: return "A";
    case Mark::fault:
    case Mark::event: return "!";
    case Mark::older: return "\xe2\x97\x80";
    default: return "";
  }
}

class Picture {
 public:
  Picture(pugi::xml_node parent, const Interleaving& data, const std::string& missing_order)
      : data_(data), missing_order_(missing_order) {
    std::size_t letters = data.of.size();
    for (const std::string& row : data.rows) letters = std::max(letters, row.size());
    left_ = 12 + kLetterWidth * static_cast<int>(letters);
    const int grid = kCellWidth * static_cast<int>(data.steps.size());
    const int sentence = kLetterWidth * static_cast<int>(missing_order.size());
    const int width = left_ + std::max(grid, sentence) + 12;
    const int height = bottom() + (shown_sides().size() == 2 ? kFooter : 8);
    svg_ = parent.append_child("svg");
    set(svg_, "class", "interleaving");
    set(svg_, "width", width);
    set(svg_, "height", height);
    set(svg_, "viewBox", fmt::format("0 0 {} {}", width, height));
    set(svg_, "role", "img");
    set(svg_, "aria-label", "interleaving: rows are threads, columns are steps");
  }

  void draw() {
    draw_rows();
    for (std::size_t step = 0; step < data_.steps.size(); ++step) draw_step(step);
    draw_missing_order();
    for (std::size_t side = 0; side < data_.sides.size(); ++side) draw_side(side);
  }

 private:
  template <class Value>
  static void set(pugi::xml_node node, const char* name, const Value& value) {
    node.append_attribute(name) = fmt::format("{}", value).c_str();
  }

  pugi::xml_node text(int x, int y, const char* style, const std::string& content) {
    pugi::xml_node node = svg_.append_child("text");
    set(node, "x", x);
    set(node, "y", y);
    set(node, "class", style);
    node.append_child(pugi::node_pcdata).set_value(printable(content).c_str());
    return node;
  }

  pugi::xml_node line(int x1, int y1, int x2, int y2, const char* style) {
    pugi::xml_node node = svg_.append_child("line");
    set(node, "x1", x1);
    set(node, "y1", y1);
    set(node, "x2", x2);
    set(node, "y2", y2);
    set(node, "class", style);
    return node;
  }

  [[nodiscard]] int x_of(std::size_t step) const {
    return left_ + kCellWidth * static_cast<int>(step);
  }
  [[nodiscard]] static int y_of(std::size_t row) {
    return kCaptionHeight + kCellHeight * static_cast<int>(row);
  }
  [[nodiscard]] int bottom() const { return y_of(data_.rows.size()); }

  [[nodiscard]] std::vector<Interleaving::Point> shown_sides() const {
    std::vector<Interleaving::Point> points;
    for (const auto& side : data_.sides) {
      if (side) points.push_back(*side);
    }
    return points;
  }

  void draw_rows() {
    text(6, kCaptionHeight - 8, "caption", data_.of);
    for (std::size_t row = 0; row < data_.rows.size(); ++row) {
      const int middle = y_of(row) + kCellHeight / 2;
      text(6, middle + 4, "row", data_.rows[row]);
      line(left_, middle, x_of(data_.steps.size()), middle, "lane");
    }
  }

  void draw_step(std::size_t index) {
    const Interleaving::Step& step = data_.steps[index];
    const int x = x_of(index), middle = x + kCellWidth / 2;
    const std::string caption = step.decision ? "\xe2\x97\x86" + step.label : step.label;
    pugi::xml_node label =
        text(middle, kCaptionHeight - 8, step.decision ? "caption decision" : "caption", caption);
    set(label, "transform", fmt::format("rotate(-60 {} {})", middle, kCaptionHeight - 8));
    if (step.gap) return;
    for (std::size_t row = 0; row < step.marks.size(); ++row) {
      if (step.marks[row] != Mark::none) draw_mark(index, row, step);
    }
  }

  void draw_mark(std::size_t index, std::size_t row, const Interleaving::Step& step) {
    const Mark mark = step.marks[row];
    const int x = x_of(index), y = y_of(row);
    pugi::xml_node box = svg_.append_child("rect");
    const bool thin = mark == Mark::held;
    const bool bar = mark == Mark::barrier;
    set(box, "x", thin ? x : x + (bar ? kCellWidth / 2 - 2 : 3));
    set(box, "y", thin ? y + kCellHeight / 2 - 3 : y + (bar ? 0 : 3));
    set(box, "width", thin ? kCellWidth : bar ? 4 : kCellWidth - 6);
    set(box, "height", thin ? 6 : bar ? kCellHeight : kCellHeight - 6);
    set(box, "class", class_of(mark));
    box.append_child("title")
        .append_child(pugi::node_pcdata)
        .set_value(printable(step.text).c_str());
    const std::string letter = mark == Mark::decided ? "\xe2\x97\x86" : letter_of(mark);
    if (!letter.empty()) text(x + kCellWidth / 2, y + kCellHeight / 2 + 4, "letter", letter);
  }

  // A broken line between the two sides, past the lower edge of the grid, in place of an arrow.
  void draw_missing_order() {
    const std::vector<Interleaving::Point> points = shown_sides();
    if (points.size() != 2) return;
    const int y = bottom() + 14;
    const int x1 = x_of(points[0].step) + kCellWidth / 2;
    const int x2 = x_of(points[1].step) + kCellWidth / 2;
    if (points[0].step == points[1].step) {
      line(x1, y_of(points[0].row) + kCellHeight / 2, x2, y_of(points[1].row) + kCellHeight / 2,
           "missing");
    }
    line(x1, y_of(points[0].row) + kCellHeight, x1, y, "missing");
    line(x1, y, x2, y, "missing");
    line(x2, y, x2, y_of(points[1].row) + kCellHeight, "missing");
    text(left_, y + 20, "why", missing_order_);
  }

  void draw_side(std::size_t side) {
    if (!data_.sides[side]) return;
    const auto& [row, step] = *data_.sides[side];
    const int x = x_of(step), y = y_of(row);
    pugi::xml_node ring = svg_.append_child("rect");
    set(ring, "x", x + 1);
    set(ring, "y", y + 1);
    set(ring, "width", kCellWidth - 2);
    set(ring, "height", kCellHeight - 2);
    set(ring, "rx", 4);
    set(ring, "class", "ring");
    pugi::xml_node badge = svg_.append_child("circle");
    set(badge, "cx", x + kCellWidth - 2);
    set(badge, "cy", y + 3);
    set(badge, "r", 7);
    set(badge, "class", "badge");
    text(x + kCellWidth - 2, y + 7, "number", fmt::format("{}", side + 1));
  }

  const Interleaving& data_;
  const std::string& missing_order_;
  pugi::xml_node svg_;
  int left_ = 0;
};

}  // namespace

void append_svg(pugi::xml_node parent, const Interleaving& picture,
                const std::string& missing_order) {
  Picture(parent, picture, missing_order).draw();
}

}  // namespace warpcheck
