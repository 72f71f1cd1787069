// A reference to a callable: two words, no allocation, valid while the callable lives.
//
// Shrinking passes candidates to a visitor through many layers; std::function would copy the
// visitor at each of them.
#pragma once

#include <memory>
#include <type_traits>
#include <utility>

namespace warpcheck {

template <class Signature>
class FunctionRef;

template <class Result, class... Args>
class FunctionRef<Result(Args...)> {
 public:
  // A view, like string_view, so it converts implicitly.
  template <class Callable>
  requires(!std::is_same_v<std::remove_cvref_t<Callable>, FunctionRef> &&
           std::is_invocable_r_v<Result, Callable&, Args...>)
      FunctionRef(Callable&& callable)  // NOLINT(bugprone-forwarding-reference-overload)
      : object_(const_cast<void*>(static_cast<const void*>(std::addressof(callable)))),
        call_([](void* object, Args... args) -> Result {
          auto& target = *static_cast<std::remove_reference_t<Callable>*>(object);
          return target(std::forward<Args>(args)...);
        }) {}

  Result operator()(Args... args) const { return call_(object_, std::forward<Args>(args)...); }

 private:
  void* object_;
  Result (*call_)(void*, Args...);
};

}  // namespace warpcheck
