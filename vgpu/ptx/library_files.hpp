// Recognises headers of CUB, thrust and libcu++ wherever they lie.
//
// A project may bring its own copy of these libraries (CPM, FetchContent, a submodule), so the
// place of a file says nothing.  Two things together do: a file has a name as programs include a
// header of the library (cub/block/block_scan.cuh), and its code is in the namespace of that
// library.  A file of the user's in a folder `cub` is in no such namespace, and a namespace `cub`
// of the user's is in no such file.
//
// The libraries put everything into a namespace of their version (cub::CUB_300001_SM_800,
// thrust::THRUST_300001_SM_800_NS, cuda::__4).  Where a program has switched it off, has wrapped
// the library in a namespace of its own, or has an older release, the name of the file must also be
// one of the library's layout.
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "vgpu/ptx/module.hpp"
#include "vgpu/ptx/parse/function_names.hpp"

namespace warpcheck::ptx {

// Returns the name by which a program includes the file, "cub/block/block_scan.cuh", a part of
// `file`; empty: the file is not a library's.
//   function: mangled name of a function whose code the file has
std::string_view library_include_name(std::string_view file, std::string_view function);

// Returns the same for a file that a module of this process has shown to be a library's.  What a
// file is does not change, so it is known in the whole process from then on.
std::string_view known_library_file(std::string_view file);

// Returns whether the function is in the namespace of a library's version, which tells without a
// file that it is the library's.
bool is_library_function(std::string_view mangled);

// The functions whose code the files of one module have.
class FunctionsOfFiles {
 public:
  void add(std::uint32_t file, std::string_view function) { named_.emplace(file, function); }
  // Adds a function by the label of its name in .debug_str.
  void add_label(std::uint32_t file, std::string_view label) {
    if (file == latest_file_ && label == latest_label_) return;
    labels_.emplace(file, label);
    latest_file_ = file;
    latest_label_ = label;
  }
  // Makes the library's files known.
  void conclude(const Module& module, const FunctionNames& names);

 private:
  // Names are cut: what a library's function is shows at the beginning.
  static constexpr std::size_t kNameMax = 160;

  std::set<std::pair<std::uint32_t, std::string_view>> labels_;
  std::uint32_t latest_file_ = kNone;
  std::string_view latest_label_;
  std::set<std::pair<std::uint32_t, std::string>> named_;
};

}  // namespace warpcheck::ptx
