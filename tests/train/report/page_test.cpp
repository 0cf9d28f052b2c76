// Opens pages of reports in Debian's chromium, without a window, and looks at what is drawn.
#include <cmath>
#include <cstdlib>
#include <iomanip>
#include <memory>
#include <regex>
#include <set>

#include <weft/autograd/ops/cross_entropy.hpp>
#include <weft/layers/models/gpt.hpp>
#include <weft/train/report/run_record.hpp>
#include "tests/catch.hpp"
#include "tests/messages.hpp"
#include "tests/train/file_bytes.hpp"
#include "tests/train/temporary_folder.hpp"
#include "train/report/internal/run_report.hpp"

using namespace weft;

namespace {

// What the browser has made of a page, of which `view` is the state that is kept in its address.
// Its script has no errors, and nothing in it asks for another file.
std::string page_in(const TemporaryFolder& folder, const std::string& name,
                    const std::string& view = "") {
  const std::string dom = folder / "dom.html", errors = folder / "errors";
  const std::string command = "timeout 60 '" WEFT_CHROMIUM
                              "' --headless --no-sandbox --disable-gpu --enable-logging=stderr "
                              "--window-size=1200,900 --user-data-dir='" +
                              (folder / "profile").string() + "' --dump-dom 'file://" +
                              (folder / name).string() + view + "' > " + dom + " 2> " + errors;
  INFO(command);
  REQUIRE(std::system(command.c_str()) == 0);
  CHECK_FALSE(contains(bytes_of(errors), "CONSOLE"));
  std::string page = bytes_of(dom);
  REQUIRE(contains(page, "<main>"));
  // Behind the data and the script stands nothing else.
  CHECK(contains(page, "default-src 'none'"));
  page = page.substr(page.find("<main>"), page.find("</main>") - page.find("<main>"));
  static const std::regex request(R"((src|href|action)="(?!data:)|https?:)");
  CHECK_FALSE(std::regex_search(page, request));
  CHECK_FALSE(contains(page, "NaN\""));
  CHECK_FALSE(contains(page, "undefined"));
  return page;
}

std::ptrdiff_t count(const std::string& text, const std::string& part) {
  std::ptrdiff_t found = 0;
  for (std::size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++found;
  return found;
}

// The points of the lines of a name that are drawn: x and y, in pixels.
std::vector<std::pair<double, double>> points_of(const std::string& page, const std::string& name) {
  static const std::regex point(R"([ML](-?[\d.]+) (-?[\d.]+))");
  std::vector<std::pair<double, double>> points;
  const std::size_t line = page.find("class=\"curve\" data-name=\"" + name + "\"");
  if (line == page.npos) return points;
  // Found without an expression, whose recursion takes stack for each character.
  const std::size_t begin = page.find(" d=\"", line) + 4;
  const std::string path = page.substr(begin, page.find('"', begin) - begin);
  for (std::sregex_iterator match(path.begin(), path.end(), point), end; match != end; ++match)
    points.emplace_back(std::stod((*match)[1]), std::stod((*match)[2]));
  return points;
}

const std::vector<std::string> columns = {
    "step",         "epoch",           "loss",         "learning_rate", "grad_norm",
    "tokens_per_s", "validation_loss", "training_loss"};

// A run whose loss falls from 10 to 1, with a validation each 10 rows.
std::unique_ptr<RunReport> report_of(const std::filesystem::path& folder, std::int64_t rows) {
  RunDescription description{.label_unit = "tokens", .columns = columns};
  description.configuration = {{"lr", folder.filename().string()}, {"width", "64"}};
  description.model = "Linear(1, 1)";
  description.parameters = {{"weight", "[1, 1]", "1", "trained"}};
  auto report = std::make_unique<RunReport>(folder, description, 0);
  for (std::int64_t step = 1; step <= rows; ++step) {
    const double loss = 1.0 + 9.0 / std::sqrt(static_cast<double>(step));
    std::vector<std::optional<double>> values{1, loss, 1e-3, 1.0, 1000.0};
    if (step == rows / 2) values[3] = 1e4;
    if (step % 10 == 0) values.insert(values.end(), {loss + 0.1, loss});
    report->add_row(step, values);
  }
  return report;
}

}  // namespace

TEST_CASE("page: curves, axes and tables of a run are drawn", "[report][browser]") {
  const TemporaryFolder folder;
  const auto report_pointer = report_of(folder.path(), 40);
  RunReport& report = *report_pointer;
  ReportSection section;
  section.text("a sample", "to be\nor not");
  section.preformatted("columns", "a  1\nb  2");
  section.confusion("classes", {"cat", "dog"}, Tensor<double>({2, 2}, {5, 1, 2, 7}));
  section.attention("weights", {"A", "B"}, {"x", "yy"},
                    {{"head 1", Tensor<float>({2, 2}, {1, 0, 0.5, 0.5})}});
  report.add_examples(40, section);
  report.add_warning(30, "the loss has risen");
  REQUIRE_FALSE(report.write({"finished", 40, 40, 40, 2.5}));
  const std::string page = page_in(folder, "report.html");
  CHECK(contains(page, "finished · step 40 · best validation_loss 2.5 at step 40"));
  CHECK(contains(page, "Step 30: the loss has risen"));
  const auto steps = points_of(page, "loss of the steps");
  REQUIRE(steps.size() == 40);
  for (std::size_t i = 1; i < steps.size(); ++i) {
    CHECK(steps[i].first > steps[i - 1].first);
    CHECK(steps[i].second > steps[i - 1].second);  // y points down
  }
  const auto validation = points_of(page, "validation loss");
  REQUIRE(validation.size() == 4);
  CHECK(validation[3].first == Approx(steps[39].first));
  CHECK(validation[3].second < steps[39].second);
  CHECK(points_of(page, "training loss").size() == 4);
  for (const char* name : {"learning rate", "grad norm", "tokens per second"})
    CHECK(points_of(page, name).size() == 40);
  CHECK(count(page, "class=\"x\"") >= 4 * 3);
  CHECK(count(page, "class=\"y\"") >= 4 * 2);
  CHECK(contains(page, "<pre>to be\nor not</pre>"));
  CHECK(contains(page, "<pre class=\"lines\">a  1\nb  2</pre>"));
  CHECK(count(page, "data:image/png") == 1);
  for (const char* text : {">cat<", ">7<", ">head 1<", ">yy<", ">weight<", ">Linear(1, 1)<"})
    CHECK(contains(page, text));
}

TEST_CASE("page: a flame graph has the layers within layers, as wide as their time",
          "[report][browser]") {
  const TemporaryFolder folder;
  Random random(1);
  const Gpt<float> model(
      {.vocabulary_size = 11, .max_len = 8, .num_hiddens = 12, .num_heads = 3, .num_blocks = 2},
      random);
  Profile profile(model);
  Tape<float> tape({.training = true, .observer = &profile});
  const Tokens tokens({4, 8});
  for (int step = 0; step < 3; ++step) {
    tape.backward(cross_entropy(model(tape, tokens), tokens));
    profile.end_step();
  }
  const auto report = report_of(folder.path(), 40);
  ReportSection section;
  section.flame_graph("time", profile);
  const Tensor<double>& counts = section.blocks().front().counts;
  double forward = 0.0, backward = 0.0;
  for (Index i = 0; i < counts.shape()[0]; ++i) {
    forward += counts(i, 0);
    backward += counts(i, 1);
  }
  const ProfileRow all = profile.layers().front();
  CHECK(forward == Approx(1e3 * all.forward_seconds / 2));
  CHECK(backward == Approx(1e3 * all.backward_seconds / 2));
  report->set_section("Profile", section);
  report->write({.state = "finished", .step = 40});
  const std::string page = page_in(folder, "report.html");
  REQUIRE(count(page, "class=\"flame\"") == 2);
  const std::size_t middle = page.rfind("class=\"flame\"");
  for (const std::string& graph : {page.substr(0, middle), page.substr(middle)}) {
    const auto width_of = [&](const std::string& path) {
      const std::regex rectangle(R"re(<rect width="([\d.]+)"[^>]*data-path=")re" + path + "\"");
      std::smatch found;
      REQUIRE(std::regex_search(graph, found, rectangle));
      return std::stod(found[1]);
    };
    CHECK(width_of("model") > 500);
    // Beside the blocks there are operations of their own.
    const double blocks = width_of("blocks.0") + width_of("blocks.1");
    CHECK(blocks < width_of("blocks") + 3);
    CHECK(blocks > 0.5 * width_of("blocks"));
    CHECK(width_of("blocks.1.attention") < width_of("blocks.1"));
    CHECK(width_of("blocks.1.attention.scaled_dot_product_attention") > 0);
  }
  CHECK(contains(page, ">model<"));
}

TEST_CASE("page: first steps and spikes do not flatten the rest", "[report][browser]") {
  const TemporaryFolder folder;
  report_of(folder.path(), 1000)->write({.state = "running", .step = 1000, .total_steps = 2000});
  const std::string page = page_in(folder, "report.html");
  CHECK(contains(page, "running · step 1,000 of 2,000"));
  // Half of the steps take more than a quarter of the height; the first ones are above it.
  auto steps = points_of(page, "loss of the steps");
  REQUIRE(steps.size() == 1000);
  CHECK(steps[999].second - steps[60].second > 150);
  CHECK(steps[0].second < 0);
  CHECK(contains(page, "values up to 10 are above"));
  // The whole range, and a logarithmic axis.
  const std::string whole = page_in(folder, "report.html", "#%7B%22whole%22:%5B%22loss%22%5D%7D");
  steps = points_of(whole, "loss of the steps");
  CHECK(steps[0].second > 0);
  const std::string log =
      page_in(folder, "report.html",
              "#%7B%22log%22:%5B%22grad%20norm%22%5D,%22whole%22:%5B%22grad%20norm%22%5D%7D");
  CHECK(contains(log, ">10<"));
  CHECK(points_of(log, "grad norm")[499].second > 0);
}

TEST_CASE("page: of a million rows it is below 3 MB, and shows each spike", "[report][browser]") {
  const TemporaryFolder folder;
  constexpr std::int64_t rows = 1'000'000;
  report_of(folder.path(), rows)->write({.state = "finished", .step = rows, .total_steps = rows});
  CHECK(std::filesystem::file_size(folder / "report.html") < 3'000'000);
  const std::string page =
      page_in(folder, "report.html", "#%7B%22whole%22:%5B%22grad%20norm%22%5D%7D");
  CHECK(points_of(page, "loss of the steps").size() > 900);
  CHECK(count(page, "class=\"band\"") == 7 - 1);
  CHECK(contains(page, "1,000,000"));
}

TEST_CASE("page: NaN and infinity are marked", "[report][browser]") {
  const TemporaryFolder folder;
  RunReport report(folder.path(), {.label_unit = "tokens", .columns = columns}, 0);
  for (std::int64_t step = 1; step <= 20; ++step) {
    const double loss = step == 5 ? NAN : step == 9 ? INFINITY : 1.0;
    report.add_row(step, {1, loss, -INFINITY, 0.0, 1000.0});
  }
  report.write({.state = "running", .step = 20});
  const std::string page = page_in(folder, "report.html");
  CHECK(count(page, "class=\"bad\"") == 2 + 20);
  CHECK(points_of(page, "loss of the steps").size() == 18);
  CHECK(contains(page, "✕ NaN or infinite"));
}

TEST_CASE("page: names that look like HTML are shown as text", "[report][browser]") {
  const TemporaryFolder folder;
  const std::string hostile = "</script><script>document.body.textContent='taken'</script>\"'&";
  RunDescription description{.label_unit = "tokens", .columns = columns};
  description.configuration = {{hostile, hostile}};
  RunReport report(folder.path(), description, 0);
  ReportSection section;
  section.text(hostile, hostile);
  section.table(hostile, {hostile}, {{hostile}});
  section.attention(hostile, {hostile}, {hostile}, {{hostile, Tensor<float>({1, 1}, {1.0f})}});
  report.add_examples(1, section);
  report.write({.state = hostile});
  const std::string page = page_in(folder, "report.html");
  CHECK_FALSE(contains(page, "<script"));
  CHECK(count(page, "&lt;/script&gt;&lt;script&gt;document.body") >= 8);
}

TEST_CASE("page: a comparison shows results first, the parts that differ, and ticks of their own",
          "[report][browser]") {
  const TemporaryFolder folder;
  std::vector<RunRecord> runs;
  for (const char* name : {"a", "b", "c"}) {
    const auto one = folder / name;
    std::filesystem::create_directories(one);
    RunDescription description{.label_unit = "tokens", .columns = columns};
    const bool is_first = *name == 'a';
    description.configuration = {{"modern", is_first ? "true" : "false"}};
    description.training = {{"optimizer", str_cat("AdamW, lr ", is_first ? 0.003 : 0.001,
                                                  ", betas 0.9 and 0.99, weight decay 0.1 "
                                                  "on 98304 parameters in 20 tensors")}};
    // As it was written on the command line, and an option that only one run has.
    if (is_first) description.notes = {{"modern", "1"}, {"only", "here"}};
    RunReport report(one, description, 0);
    // A column that only some have.
    const char* const last[] = {is_first ? "" : ",constructor", is_first ? "" : ",1"};
    std::string text = str_cat(
        "step,epoch,loss,learning_rate,grad_norm,tokens_per_s,validation_loss", last[0], '\n');
    for (int step = 1; step <= 40; ++step)
      text += str_cat(step, ",1,", std::setprecision(9), 3.498 + 1e-6 * step, ",0.1,1,1000,",
                      step % 10 ? "" : "3.49812", last[1], '\n');
    REQUIRE_FALSE(report.write({"finished", 40, 40, 40, 3.49812}));
    write_bytes(one / "metrics.csv", text);
    runs.push_back(read_run(one));
  }
  write_comparison(folder / "runs.html", runs);
  const std::string page = page_in(folder, "runs.html");
  CHECK(contains(
      page,
      "<th>run</th><th>state</th><th>best</th><th>at step</th><th>steps done</th><th>time</th>"
      "<th>modern</th><th>optimizer</th><th>only</th>"));
  CHECK(contains(page, "<td>true</td><td>lr 0.003</td><td>here</td>"));
  CHECK(count(page, "<td>false</td><td>lr 0.001</td>") == 2);
  CHECK(count(page, "<td class=\"number\">3.49812</td>") == 3);
  // No two ticks of a chart have the same label.
  static const std::regex tick("class=\"y\"[^>]*>([^<]*)<");
  std::size_t charts = 0;
  for (std::size_t at = 0; (at = page.find("<svg role=\"img\"", at)) != page.npos; ++charts) {
    const std::string chart = page.substr(at, page.find("</svg>", at) - at);
    at += chart.size();
    std::vector<std::string> labels;
    for (std::sregex_iterator match(chart.begin(), chart.end(), tick), end; match != end; ++match)
      labels.push_back((*match)[1]);
    INFO(chart.substr(0, 100));
    CHECK(labels.size() >= 2);
    CHECK(std::set<std::string>(labels.begin(), labels.end()).size() == labels.size());
  }
  CHECK(charts >= 6);
}

TEST_CASE("page: a vocabulary with a character a line is shown in a few lines",
          "[report][browser]") {
  const TemporaryFolder folder;
  RunDescription description{.label_unit = "tokens", .columns = columns};
  description.configuration = {{"letters", "<unk>\na\nb\n c\n"}};
  RunReport(folder.path(), description, 0).write({.state = "finished", .step = 1});
  CHECK(contains(page_in(folder, "report.html"), "&lt;unk&gt; a b c "));
}

TEST_CASE("page: curves of several runs are laid over each other", "[report][browser]") {
  const TemporaryFolder folder;
  std::vector<RunRecord> runs;
  for (const char* name : {"0.1", "0.2", "0.3"}) {
    const auto one = folder / name;
    std::filesystem::create_directories(one);
    report_of(one, 40)->write({"finished", 40, 40, 40, 2.5});
    std::string text = "step,epoch,loss,learning_rate,grad_norm,tokens_per_s,validation_loss\n";
    for (int step = 1; step <= 40; ++step)
      text += str_cat(step, ",1,", 2.0 / step, ",0.1,1,1000,", step % 10 ? "" : "1.5", '\n');
    write_bytes(one / "metrics.csv", text);
    runs.push_back(read_run(one));
  }
  write_comparison(folder / "runs.html", runs);
  const std::string page = page_in(folder, "runs.html");
  CHECK(contains(page, "<h1>3 runs</h1>"));
  // Each of five columns has three lines; what differs is in the table, what does not is not.
  CHECK(count(page, "class=\"curve\"") == 15);
  CHECK(contains(page, "<th>lr</th>"));
  CHECK_FALSE(contains(page, "<th>width</th>"));
  CHECK(points_of(page, runs[1].name).size() == 4);
}
