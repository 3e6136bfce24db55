#include "runtime/models/script.h"

#include <ATen/Functions.h>
#include <ATen/TensorOperators.h>
#include <fmt/core.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/functions/utils.h>
#include <torch/script.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "runtime/base/edit_distance.h"
#include "runtime/base/quote.h"
#include "runtime/weights/safetensors.h"

namespace pp::models {
namespace {

using torch::autograd::variable_list;

std::string Cause(std::string text) {
  // TorchScript's own messages have a traceback; the cause is its last line.
  while (!text.empty() && text.back() == '\n') text.pop_back();
  const size_t at = text.rfind('\n');
  return at == std::string::npos ? text : text.substr(at + 1);
}

std::string Describe(const at::Tensor& tensor) {
  return fmt::format("{} {}", c10::toString(tensor.scalar_type()),
                     weights::ShapeText(tensor.sizes().vec()));
}

// f(), whose exceptions say what is wrong with the user's file.
template <class F>
auto OfUser(const std::string& what, F&& f) -> Result<decltype(f())> {
  try {
    return f();
  } catch (const c10::Error& error) {
    return Fail(InputError(
        fmt::format("{}: {}", what, Cause(error.what_without_backtrace()))));
  } catch (const std::exception& error) {
    return Fail(InputError(fmt::format("{}: {}", what, Cause(error.what()))));
  }
}

Result<torch::jit::Module> LoadScript(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) {
    return Fail(InputError(fmt::format("stage `{}`: no such file", path)));
  }
  return OfUser(fmt::format("`{}` cannot be read as TorchScript", path),
                [&] { return torch::jit::load(path, at::Device(at::kCPU)); });
}

// A module as it is written: the optimizer would run the first few calls in
// other kernels than the later ones, and the bits would depend on how many
// ranks have called it.
at::Tensor Call(const torch::jit::Module& module,
                std::vector<torch::jit::IValue> inputs) {
  const torch::jit::GraphOptimizerEnabledGuard as_written(false);
  torch::jit::Module shared = module;  // `forward` is not const
  return shared.forward(std::move(inputs)).toTensor();
}

// ---- A stage ----

struct Script {
  torch::jit::Module module;
  std::vector<WeightUse*> uses;
  variable_list parameters;  // the module's own, over the store's memory
};

// The history of a stage's output: the module's graph, run when a gradient
// comes, its halves together or apart.
struct ScriptNode : torch::autograd::Node {
  const Script* script = nullptr;
  WeightTape* tape = nullptr;
  at::Tensor input;  // leaf, undefined on the first stage
  at::Tensor output;

  static void Add(const Script& script, const variable_list& gradients,
                  size_t from) {
    const at::NoGradGuard no_grad;
    for (size_t i = 0; i < script.uses.size(); ++i) {
      const at::Tensor& gradient = gradients[from + i];
      if (gradient.defined()) script.uses[i]->gradient.add_(gradient);
    }
  }

  variable_list apply(variable_list&& grads) override {
    variable_list result(1);
    const at::Tensor dy = grads[0].contiguous();
    const at::Tensor y = std::move(output);
    variable_list wanted;
    if (input.defined()) wanted.push_back(input);
    const size_t inputs = wanted.size();
    const bool whole = tape->mode() == WeightTape::Mode::kRunAtOnce;
    if (whole) {
      wanted.insert(wanted.end(), script->parameters.begin(),
                    script->parameters.end());
    }
    if (!wanted.empty()) {
      const variable_list got = torch::autograd::grad(
          {y}, wanted, {dy}, /*retain_graph=*/!whole, false, true);
      if (inputs > 0) result[0] = got[0];
      if (whole) Add(*script, got, inputs);
    }
    if (!whole) {
      tape->Add([s = script, y, dy] {
        Add(*s,
            torch::autograd::grad({y}, s->parameters, {dy}, std::nullopt, false,
                                  true),
            0);
      });
    }
    input.reset();
    return result;
  }
  void release_variables() override {
    input.reset();
    output.reset();
  }
};

class ScriptStage : public Stage {
 public:
  void Add(torch::jit::Module module, uint32_t index, ParameterStore& store) {
    auto script = std::make_unique<Script>();
    for (const auto& [name, parameter, is_leaf] : Named(module)) {
      script->uses.push_back(store.Use({fmt::format("stage{}.{}", index, name),
                                        parameter.sizes().vec(),
                                        {},
                                        parameter.detach()}));
      at::Tensor own = parameter;
      if (!script->uses.back()->value.is_meta()) {
        own.set_data(script->uses.back()->value);
      }
      script->parameters.push_back(own);
    }
    script->module = std::move(module);
    scripts_.push_back(std::move(script));
  }

  at::Tensor Forward(const at::Tensor& x, WeightTape& tape) const override {
    at::Tensor h = x;
    for (const auto& script : scripts_) h = Run(*script, h, tape);
    return h;
  }

  struct Parameter {
    std::string name;
    at::Tensor value;
    bool leaf;
  };
  // Those that can learn.
  static std::vector<Parameter> Named(const torch::jit::Module& module) {
    std::vector<Parameter> all;
    for (const auto& named : module.named_parameters(/*recurse=*/true)) {
      if (!named.value.requires_grad()) continue;
      all.push_back({named.name, named.value, named.value.is_leaf()});
    }
    return all;
  }

 private:
  static at::Tensor Run(const Script& script, const at::Tensor& x,
                        WeightTape& tape) {
    auto node = std::shared_ptr<ScriptNode>(new ScriptNode(),
                                            torch::autograd::deleteNode);
    node->script = &script;
    node->tape = &tape;
    at::Tensor inner = x.detach();
    if (x.requires_grad()) {
      inner.requires_grad_(true);
      node->input = inner;
    }
    node->output = Call(script.module, {inner});
    const at::Tensor y = node->output.detach();
    if (!at::GradMode::is_enabled()) return y;
    node->set_next_edges(torch::autograd::collect_next_edges(x));
    torch::autograd::set_history(y, node);
    return y;
  }

  std::vector<std::unique_ptr<Script>> scripts_;
};

// ---- Data ----

class Rows {
 public:
  static Result<Rows> Load(const weights::File& file, const char* name) {
    const weights::TensorInfo* info = file.Find(name);
    if (info == nullptr || info->shape.empty() || info->shape[0] == 0 ||
        (info->dtype != "F32" && info->dtype != "I64")) {
      return Fail(InputError(
          fmt::format("data file `{}` has no tensor {} of rows, F32 or I64",
                      file.path(), Quote(name))));
    }
    Rows rows;
    rows.all_ =
        at::empty(info->shape, info->dtype == "F32" ? at::kFloat : at::kLong);
    PP_RETURN_IF_ERROR(
        file.ReadBytes(*info, 0,
                       {static_cast<std::byte*>(rows.all_.mutable_data_ptr()),
                        rows.all_.nbytes()}));
    return rows;
  }
  int64_t count() const { return all_.size(0); }
  at::Tensor Take(uint64_t step, int64_t rows) const {
    const at::Tensor index = at::arange(rows, at::kLong)
                                 .add(static_cast<int64_t>(step) * rows)
                                 .remainder(count());
    return all_.index_select(0, index);
  }

 private:
  at::Tensor all_;
};

// ---- The model ----

class ScriptModel : public Model {
 public:
  Status Load(const ModelConfig& config) {
    files_ = config.files;
    PP_RETURN_IF_ERROR(LoadData(config.data));
    PP_RETURN_IF_ERROR(LoadLoss(config.loss.empty() ? "mse" : config.loss));
    at::Tensor one = input_.Take(0, 1), two = input_.Take(0, 2);
    std::string from = "the data";
    for (const std::string& path : files_) {
      PP_RETURN_IF_ERROR(Try(path, from, one, two));
      from = fmt::format("`{}`", path);
    }
    PP_ASSIGN_OR_RETURN(
        const at::Tensor losses,
        OfUser(fmt::format("the loss cannot take {} of {} and the target {}",
                           Describe(one), from, Describe(target_.Take(0, 1))),
               [&] { return Losses(one, target_.Take(0, 1)); }));
    units_ = losses.numel();
    if (losses.scalar_type() == at::kFloat && units_ > 0) return OkStatus();
    return InputError(fmt::format("the loss gives {}, not one float32 a unit",
                                  Describe(losses)));
  }

  uint32_t Layers() const override {
    return static_cast<uint32_t>(files_.size());
  }
  std::unique_ptr<Stage> BuildStage(const LayerRange& range,
                                    ParameterStore& store) const override {
    auto stage = std::make_unique<ScriptStage>();
    for (uint32_t i = range.begin; i < range.end; ++i) {
      stage->Add(torch::jit::load(files_[i], at::Device(at::kCPU)), i, store);
    }
    return stage;
  }
  std::vector<int64_t> BoundaryShape(int64_t rows,
                                     uint32_t layer) const override {
    // A program may ask for what is between no stages: it gets a tensor that
    // fits nowhere, and is told so.
    std::vector<int64_t> shape = shapes_[std::clamp(layer, 1u, Layers()) - 1];
    shape[0] = rows;
    return shape;
  }

  at::Tensor Losses(const at::Tensor& output,
                    const at::Tensor& target) const override {
    if (loss_ == Loss::kModule) {
      return Call(loss_module_, {output, target});
    }
    if (loss_ == Loss::kCrossEntropy) {
      return at::cross_entropy_loss(output.reshape({-1, output.size(-1)}),
                                    target.reshape({-1}), {},
                                    at::Reduction::None);
    }
    TORCH_CHECK(output.sizes() == target.sizes(),
                "mse needs output and target of one shape");
    const at::Tensor error = output - target;
    return error * error;
  }
  int64_t UnitsPerRow() const override { return units_; }

  uint32_t DefaultBatch() const override {
    return static_cast<uint32_t>(input_.count());
  }
  Status CheckBatch(uint32_t rows) const override {
    if (rows <= input_.count()) return OkStatus();
    return UsageError(fmt::format("a batch of {} rows: the data have {}", rows,
                                  input_.count()));
  }
  at::Tensor Input(uint64_t step, uint32_t rows) const override {
    return input_.Take(step, rows);
  }
  at::Tensor Target(uint64_t step, uint32_t rows) const override {
    return target_.Take(step, rows);
  }

 private:
  enum class Loss { kMse, kCrossEntropy, kModule };

  Status LoadData(const std::string& path) {
    if (path.empty()) {
      return UsageError(
          "TorchScript stages need data: a safetensors file with `input` and "
          "`target` (--data FILE)");
    }
    PP_ASSIGN_OR_RETURN(const auto file, weights::File::Open(path));
    PP_ASSIGN_OR_RETURN(input_, Rows::Load(*file, "input"));
    PP_ASSIGN_OR_RETURN(target_, Rows::Load(*file, "target"));
    if (input_.count() == target_.count()) return OkStatus();
    return InputError(
        fmt::format("data file `{}`: {} rows of input, {} of "
                    "target",
                    path, input_.count(), target_.count()));
  }

  Status LoadLoss(const std::string& name) {
    if (name.ends_with(".pt")) {
      loss_ = Loss::kModule;
      PP_ASSIGN_OR_RETURN(loss_module_, LoadScript(name));
      return OkStatus();
    }
    constexpr std::string_view kNames[] = {"mse", "cross_entropy"};
    if (name != kNames[0] && name != kNames[1]) {
      return UsageError(fmt::format(
          "no loss '{}'{} (there are: mse, cross_entropy, a module loss.pt)",
          name, Suggestion(name, kNames)));
    }
    loss_ = name == kNames[0] ? Loss::kMse : Loss::kCrossEntropy;
    return OkStatus();
  }

  // Runs a stage on one row and on two, which become what it gives.
  Status Try(const std::string& path, const std::string& from, at::Tensor& one,
             at::Tensor& two) {
    PP_ASSIGN_OR_RETURN(torch::jit::Module module, LoadScript(path));
    for (at::Tensor* x : {&one, &two}) {
      PP_ASSIGN_OR_RETURN(const at::Tensor y,
                          OfUser(fmt::format("`{}` cannot take {} of {}", path,
                                             Describe(*x), from),
                                 [&] {
                                   const at::NoGradGuard no_grad;
                                   return Call(module, {*x});
                                 }));
      const bool fits = y.scalar_type() == at::kFloat && y.dim() > 0 &&
                        y.size(0) == x->size(0);
      if (!fits) {
        return InputError(
            fmt::format("`{}` gives {} for {}: not a float32 tensor with a row "
                        "for each row",
                        path, Describe(y), Describe(*x)));
      }
      *x = y;
    }
    shapes_.push_back(one.sizes().vec());
    const auto parameters = ScriptStage::Named(module);
    for (const auto& parameter : parameters) {
      if (parameter.value.scalar_type() == at::kFloat) continue;
      return InputError(fmt::format("`{}`: parameter {} is {}, not float32",
                                    path, Quote(parameter.name),
                                    Describe(parameter.value)));
    }
    if (!parameters.empty()) return OkStatus();
    return InputError(
        fmt::format("`{}` has no parameters that can learn", path));
  }

  std::vector<std::string> files_;
  std::vector<std::vector<int64_t>> shapes_;  // of one row, by stage
  Rows input_, target_;
  Loss loss_ = Loss::kMse;
  torch::jit::Module loss_module_;
  int64_t units_ = 1;
};

}  // namespace

Result<std::shared_ptr<const Model>> MakeScript(const ModelConfig& config) {
  if (config.files.empty()) {
    return Fail(UsageError(
        "model script needs its stages: --model stage0.pt stage1.pt ..."));
  }
  auto model = std::make_shared<ScriptModel>();
  PP_RETURN_IF_ERROR(model->Load(config));
  return std::shared_ptr<const Model>(std::move(model));
}

}  // namespace pp::models
